// The features of the parts of dependency trees: scored for a whole sentence, and collected part by part.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "arcs/labelled_scores.hpp"
#include "arcs/part_keys.hpp"
#include "arcs/tree_examples.hpp"
#include "arcs/typed_arcs.hpp"
#include "arcs/weight_sums.hpp"
#include "interruption.hpp"
#include "learning/part_features.hpp"

namespace margent {

// Calls visit(part) for the parts of a tree, those of second order among them.
template <class Visit>
void each_part(const TypedArcs& typed, const Tree& tree, Visit visit) {
  const ArcSet& arcs = typed.arcs;
  const auto part = [&](PartKind kind, std::int32_t arc) {
    return TreePart{kind, arcs.head(arc), arcs.modifier(arc), 0, typed.labels[static_cast<std::size_t>(arc)], -1};
  };
  for (const std::int32_t arc : tree) visit(part(PartKind::arc, arc));
  each_second_order_part(
      arcs, tree,
      [&](std::int64_t, std::int32_t arc, std::int32_t inner) {
        TreePart each = part(PartKind::sibling, arc);
        if (inner >= 0) {
          each.third = arcs.modifier(inner);
          each.other_label = typed.labels[static_cast<std::size_t>(inner)];
        }
        visit(each);
      },
      [&](std::int64_t, std::int32_t arc, std::int32_t above) {
        TreePart each = part(PartKind::grandparent, arc);
        each.third = arcs.head(above);
        each.other_label = typed.labels[static_cast<std::size_t>(above)];
        visit(each);
      });
}

// One for each thread. Templates and examples must outlive it.
template <class Real>
class TreeFeatures {
 public:
  using Part = TreePart;

  TreeFeatures(const PartTemplates& templates, const TreeExamples& examples, int bits)
      : templates_(templates), examples_(examples), keys_(templates), bits_(bits) {}

  // Weights [2^bits].
  void turn_to(std::int64_t example, const Real* weights, double scale) {
    keys_.turn_to(examples_.atoms_of(example), examples_.n_words(example));
    sums_.start(weights, scale);
  }

  // The scores of all parts of typed arcs, with parts of second order where some template sees them. What does not look
  // at labels is scored once for all arcs between the same words. Parts that no projective tree has are left at 0. For
  // A arcs, d of which lead into a word: O(A (F + d S)) with F features of an arc, S of a part of second order.
  void score(const TypedArcs& typed, LabelledScores& out) {
    const ArcSet& arcs = out.arcs = typed.arcs;
    out.n_labels = 0;
    out.with_siblings = templates_.any(PartKind::sibling);
    out.with_grandparents = templates_.any(PartKind::grandparent);
    out.values.resize(static_cast<std::size_t>(arcs.size()));
    out.siblings.assign(out.with_siblings ? static_cast<std::size_t>(arcs.n_siblings()) : 0, 0.0);
    out.grandparents.assign(out.with_grandparents ? static_cast<std::size_t>(arcs.n_grandparents()) : 0, 0.0);
    const auto label = [&](std::int32_t arc) { return arc < 0 ? -1 : typed.labels[static_cast<std::size_t>(arc)]; };
    score_kind(out.values, [&](auto visit) {
      for (std::int32_t a = 0; a < arcs.size(); ++a)
        visit(a, arcs.first(a), TreePart{PartKind::arc, arcs.head(a), arcs.modifier(a), 0, label(a), -1});
    });
    if (out.with_siblings)
      score_kind(out.siblings, [&](auto visit) {
        for (std::int32_t a = 0; a < arcs.size(); ++a) {
          const std::int32_t h = arcs.head(a), m = arcs.modifier(a), same = arcs.first(a);
          visit(arcs.sibling(a), arcs.sibling(same), TreePart{PartKind::sibling, h, m, 0, label(a), -1});
          for (std::int32_t b = arcs.inner(a).begin; b < arcs.inner(a).end; ++b)
            visit(arcs.sibling(a, b), arcs.sibling(same, arcs.first(b)),
                  TreePart{PartKind::sibling, h, m, arcs.modifier(b), label(a), label(b)});
        }
      });
    if (out.with_grandparents)
      score_kind(out.grandparents, [&](auto visit) {
        for (std::int32_t a = 0; a < arcs.size(); ++a) {
          const std::int32_t h = arcs.head(a), m = arcs.modifier(a), same = arcs.first(a);
          if (h == 0) continue;
          for (const std::int32_t above : arcs.inward(h)) {
            const std::int32_t g = arcs.head(above);
            if (h < m ? h < g && g <= m : m <= g && g < h) continue;
            visit(arcs.grandparent(a, above), arcs.grandparent(same, arcs.first(above)),
                  TreePart{PartKind::grandparent, h, m, g, label(a), label(above)});
          }
        }
      });
  }

  // Calls visit(weight, number of the template, value between or 0) for each feature of a part.
  template <class Visit>
  void each(const Part& part, Visit visit) const {
    for (const bool labelled : {false, true})
      keys_.each(part, labelled, [&](std::uint64_t key, std::int32_t number, std::int32_t value) {
        visit(std::int64_t{weight_number(key, bits_)}, number, value);
      });
  }
  void collect(const Part& part, double amount) {
    each(part, [&](std::int64_t weight, std::int32_t, std::int32_t) { collected_.push_back({weight, amount}); });
  }
  void hand_over(SparseVector& out) {
    out.insert(out.end(), collected_.begin(), collected_.end());
    collected_.clear();
  }

 private:
  // parts(visit) calls visit(number, number of the first part of the same words, part).
  template <class Parts>
  void score_kind(std::vector<double>& out, Parts parts) {
    const auto sum = [&](const TreePart& part, bool labelled, double* to) {
      keys_.each(part, labelled,
                 [&](std::uint64_t key, std::int32_t, std::int32_t) { sums_.add(weight_number(key, bits_)); });
      sums_.end(to);
    };
    unlabelled_.resize(out.size());
    parts([&](std::int64_t number, std::int64_t same, const TreePart& part) {
      check_interruption(1 << 8);  // for its features
      if (number == same) sum(part, false, &unlabelled_[static_cast<std::size_t>(number)]);
      sum(part, true, &out[static_cast<std::size_t>(number)]);
    });
    sums_.flush();
    parts([&](std::int64_t number, std::int64_t same, const TreePart&) {
      out[static_cast<std::size_t>(number)] += unlabelled_[static_cast<std::size_t>(same)];
    });
  }

  const PartTemplates& templates_;
  const TreeExamples& examples_;
  PartKeys keys_;
  int bits_;
  WeightSums<Real> sums_;
  std::vector<double> unlabelled_;
  SparseVector collected_;
};

static_assert(PartFeatures<TreeFeatures<double>, const double*, double>);
static_assert(PartFeatures<TreeFeatures<float>, const float*, double>);

}  // namespace margent
