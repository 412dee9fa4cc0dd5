// The features of the parts of dependency trees: scored for a whole sentence, and collected part by part.
#pragma once
#include <cstdint>
#include <utility>

#include "arcs/labelled_scores.hpp"
#include "arcs/part_keys.hpp"
#include "arcs/tree_examples.hpp"
#include "arcs/weight_sums.hpp"
#include "learning/part_features.hpp"
#include "simd/kernels.hpp"

namespace margent {

struct TreePart {
  PartKind kind;
  std::int32_t head, modifier;
  std::int32_t third = 0;  // the label, the sibling (0: none) or the grandparent
};

// Calls visit(part) for the parts of a tree, those of second order among them.
template <class Visit>
void each_part(const ArcSet& arcs, const ScoredTree& tree, Visit visit) {
  for (std::size_t i = 0; i < tree.arcs.size(); ++i) {
    const std::int32_t h = arcs.head(tree.arcs[i]), m = arcs.modifier(tree.arcs[i]);
    visit(TreePart{PartKind::arc, h, m});
    if (!tree.labels.empty()) visit(TreePart{PartKind::label, h, m, tree.labels[i]});
  }
  each_second_order_part(
      arcs, tree.arcs,
      [&](std::int64_t, std::int32_t arc, std::int32_t inner) {
        visit(TreePart{PartKind::sibling, arcs.head(arc), arcs.modifier(arc), inner < 0 ? 0 : arcs.modifier(inner)});
      },
      [&](std::int64_t, std::int32_t arc, std::int32_t above) {
        visit(TreePart{PartKind::grandparent, arcs.head(arc), arcs.modifier(arc), arcs.head(above)});
      });
}

// How many weights there are for 2^bits numbers of features: rows of labels begin at any of them.
inline std::int64_t n_tree_weights(int bits, int n_labels) {
  return (std::int64_t{1} << bits) + padded_width(n_labels);
}

// One for each thread. Templates and examples must outlive it.
template <class Real>
class TreeFeatures {
 public:
  using Part = TreePart;

  TreeFeatures(const PartTemplates& templates, const TreeExamples& examples, int bits, int n_labels)
      : templates_(templates), examples_(examples), keys_(templates), bits_(bits), n_labels_(n_labels) {}

  const PartTemplates& templates() const { return templates_; }
  PartKeys& keys() { return keys_; }

  // Weights [n_tree_weights(bits, n_labels)].
  void turn_to(std::int64_t example, const Real* weights, double scale) {
    keys_.turn_to(examples_.atoms_of(example), examples_.n_words(example));
    weights_ = weights;
    scale_ = scale;
  }

  // The scores of all parts of `out.arcs`: with labels where there are any, with parts of second order where some
  // template sees them. Parts that no projective tree has are left at 0. For A arcs, d of which lead into a word,
  // O(A (F + L f + d S)) with F features of an arc, f of its label, S of a part of second order.
  void score(LabelledScores& out) {
    const ArcSet& arcs = out.arcs;
    const std::size_t n_arcs = static_cast<std::size_t>(arcs.size());
    out.n_labels = n_labels_;
    out.with_siblings = templates_.any(PartKind::sibling);
    out.with_grandparents = templates_.any(PartKind::grandparent);
    of_arcs_.resize(n_arcs);
    out.values.assign(n_arcs * static_cast<std::size_t>(n_labels_ ? n_labels_ : 1), 0.0);
    sums_.start(weights_, scale_);
    rows_.start(weights_, scale_, n_labels_, padded_width(n_labels_));
    for (std::int32_t a = 0; a < arcs.size(); ++a) {
      const int h = arcs.head(a), m = arcs.modifier(a);
      keys_.arc(h, m, adder());
      sums_.end(&of_arcs_[static_cast<std::size_t>(a)]);
      if (!n_labels_) continue;
      keys_.label(h, m, [&](std::uint64_t key, std::int32_t, std::int32_t) { rows_.add(weight_number(key, bits_)); });
      rows_.end(out.values.data() + static_cast<std::size_t>(a) * n_labels_);
    }
    rows_.flush();
    if (out.with_siblings) score_siblings(arcs, out.siblings);
    if (out.with_grandparents) score_grandparents(arcs, out.grandparents);
    sums_.flush();
    if (!n_labels_) {
      out.values = of_arcs_;
      return;
    }
    for (std::size_t a = 0; a < n_arcs; ++a)
      for (int l = 0; l < n_labels_; ++l) out.values[a * n_labels_ + l] += of_arcs_[a];
  }

  // Calls visit(weight, number of the template, value between or 0) for each feature of a part.
  template <class Visit>
  void each(const Part& part, Visit visit) const {
    const auto numbered = [&](std::uint64_t key, std::int32_t number, std::int32_t value) {
      visit(std::int64_t{weight_number(key, bits_)} + (part.kind == PartKind::label ? part.third : 0), number, value);
    };
    switch (part.kind) {
      case PartKind::arc:
        return keys_.arc(part.head, part.modifier, numbered);
      case PartKind::label:
        return keys_.label(part.head, part.modifier, numbered);
      case PartKind::sibling:
        return keys_.sibling(part.head, part.third, part.modifier, numbered);
      case PartKind::grandparent:
        return keys_.grandparent(part.third, part.head, part.modifier, numbered);
    }
  }
  void collect(const Part& part, double amount) {
    each(part, [&](std::int64_t weight, std::int32_t, std::int32_t) { collected_.push_back({weight, amount}); });
  }
  void hand_over(SparseVector& out) {
    out.insert(out.end(), collected_.begin(), collected_.end());
    collected_.clear();
  }

 private:
  auto adder() {
    return [this](std::uint64_t key, std::int32_t, std::int32_t) { sums_.add(weight_number(key, bits_)); };
  }

  void score_siblings(const ArcSet& arcs, std::vector<double>& out) {
    out.resize(static_cast<std::size_t>(arcs.n_siblings()));
    for (std::int32_t a = 0; a < arcs.size(); ++a) {
      const int h = arcs.head(a), m = arcs.modifier(a);
      keys_.sibling(h, 0, m, adder());
      sums_.end(&out[static_cast<std::size_t>(arcs.sibling(a))]);
      for (std::int32_t b = arcs.inner(a).begin; b < a; ++b) {
        keys_.sibling(h, arcs.modifier(b), m, adder());
        sums_.end(&out[static_cast<std::size_t>(arcs.sibling(a, b))]);
      }
    }
  }

  void score_grandparents(const ArcSet& arcs, std::vector<double>& out) {
    out.assign(static_cast<std::size_t>(arcs.n_grandparents()), 0.0);
    for (std::int32_t a = 0; a < arcs.size(); ++a) {
      const int h = arcs.head(a), m = arcs.modifier(a);
      if (h == 0) continue;
      for (const std::int32_t above : arcs.inward(h)) {
        const int g = arcs.head(above);
        if (h < m ? h < g && g <= m : m <= g && g < h) continue;
        keys_.grandparent(g, h, m, adder());
        sums_.end(&out[static_cast<std::size_t>(arcs.grandparent(a, above))]);
      }
    }
  }

  const PartTemplates& templates_;
  const TreeExamples& examples_;
  PartKeys keys_;
  int bits_, n_labels_;
  const Real* weights_ = nullptr;
  double scale_ = 1;
  WeightSums<Real> sums_;
  RowSums<Real> rows_;
  std::vector<double> of_arcs_;
  SparseVector collected_;
};

static_assert(PartFeatures<TreeFeatures<double>, const double*, double>);
static_assert(PartFeatures<TreeFeatures<float>, const float*, double>);

}  // namespace margent
