#include "arcs/tree_example.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include "forest/semiring.hpp"
#include "interruption.hpp"
#include "parallel.hpp"

namespace margent {

TreeProblem::TreeProblem(const PartTemplates& templates, const TreeExamples& examples, const ArcFilter* filter,
                         TreeKind kind, int n_labels, int bits, double label_cost, int threads)
    : templates_(templates), examples_(examples), kind_(kind), n_labels_(n_labels), bits_(bits),
      label_cost_(label_cost), filtered_(filter != nullptr), state_(static_cast<std::size_t>(examples.size())),
      kept_(filter ? static_cast<std::size_t>(examples.size()) : 0) {
  std::vector<std::optional<ArcFilter::Workspace>> work(static_cast<std::size_t>(workers(examples.size(), threads)));
  parallel(examples.size(), threads, [&](std::size_t thread, std::int64_t i) {
    state_[static_cast<std::size_t>(i)] = state_of(i);
    if (!filter || examples_.n_words(i) == 0) return;
    if (!work[thread]) work[thread].emplace(*filter);
    filter->keep(examples_.atoms_of(i), examples_.n_words(i), *work[thread], kept_[static_cast<std::size_t>(i)]);
  });
}

TreeProblem::State TreeProblem::state_of(std::int64_t i) const {
  const std::int32_t *heads = examples_.heads_of(i), *labels = examples_.labels_of(i);
  const int n = examples_.n_words(i);
  int n_roots = 0;
  for (int m = 1; m <= n; ++m) {
    if (heads[m - 1] < 0 || labels[m - 1] < 0) return State::partial;
    n_roots += heads[m - 1] == 0;
  }
  if (kind_.single_root && n > 0 && n_roots != 1) return State::out_of_reach;
  for (int m = 1; kind_.projective && m <= n; ++m) {
    const int low = std::min(m, heads[m - 1]), high = std::max(m, heads[m - 1]);
    for (int k = low + 1; k < high; ++k)
      if (heads[k - 1] < low || heads[k - 1] > high) return State::out_of_reach;
  }
  return State::complete;
}

void TreeProblem::find_arcs(std::int64_t i, std::vector<TypedArc>& chosen, TypedArcs& out) const {
  const std::int32_t n = examples_.n_words(i);
  if (!filtered_) {
    all_arcs(n, n_labels_, chosen);
    return out.assign(n, chosen);
  }
  chosen = kept_[static_cast<std::size_t>(i)];
  // Where one of head and label is not known, the known one goes with all that the filter leaves of the other.
  for (const TypedArc& each : kept_[static_cast<std::size_t>(i)]) {
    const std::int32_t head = examples_.heads_of(i)[each.modifier - 1];
    const std::int32_t label = examples_.labels_of(i)[each.modifier - 1];
    if (head >= 0 || label >= 0)
      chosen.push_back({head < 0 ? each.head : head, each.modifier, label < 0 ? each.label : label});
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  out.assign(n, chosen);
}

void TreeExample::turn_to(std::int64_t example, const double* weights, double scale) {
  example_ = example;
  problem_->find_arcs(example, chosen_, typed_);
  scores_.kind = problem_->kind();
  features_.turn_to(example, weights, scale);
  features_.score(typed_, scores_);
  plain_ = scores_.values;
}

bool TreeExample::wrong_head(std::int32_t arc) const {
  const std::int32_t right = problem_->examples().heads_of(example_)[typed_.arcs.modifier(arc) - 1];
  return right >= 0 && right != head(arc);
}

bool TreeExample::wrong_label(std::int32_t arc) const {
  const std::int32_t right = problem_->examples().labels_of(example_)[typed_.arcs.modifier(arc) - 1];
  return right >= 0 && right != label(arc);
}

template <class Change>
const LabelledScores& TreeExample::changed(Change change) {
  changed_ = plain_;
  for (std::int32_t a = 0; a < typed_.arcs.size(); ++a) change(changed_[static_cast<std::size_t>(a)], a);
  return with(changed_);
}

const LabelledScores& TreeExample::with_costs(double cost) {
  if (cost == 0) return all();
  return changed([&](double& value, std::int32_t arc) {
    value += wrong_head(arc) ? cost : wrong_label(arc) ? cost * problem_->label_cost() : 0;
  });
}

const LabelledScores& TreeExample::right() {
  return changed([&](double& value, std::int32_t arc) {
    if (wrong_head(arc) || wrong_label(arc)) value = log_zero;
  });
}

ScoredTree TreeExample::gold(TreeWorkspace& work) {
  if (!problem_->is_complete(example_)) return right().best(work);
  ScoredTree tree;
  if (problem_->is_out_of_reach(example_)) return tree;
  const TreeExamples& all = problem_->examples();
  const std::int32_t *heads = all.heads_of(example_), *labels = all.labels_of(example_);
  for (int m = 1; m <= all.n_words(example_); ++m) tree.arcs.push_back(typed_.find(heads[m - 1], m, labels[m - 1]));
  tree.score = score(tree);
  return tree;
}

double TreeExample::loss(const ScoredTree& tree) const {
  double sum = 0;
  for (const std::int32_t arc : tree.arcs) sum += wrong_head(arc) ? 1 : wrong_label(arc) ? problem_->label_cost() : 0;
  return sum;
}

std::int64_t TreeExample::errors(const ScoredTree& tree) const {
  return std::ranges::count_if(tree.arcs, [&](std::int32_t arc) { return wrong_head(arc) || wrong_label(arc); });
}

void TreeExample::collect(const ScoredTree& tree, double amount) {
  each_part(typed_, tree.arcs, [&](const TreePart& part) { features_.collect(part, amount); });
}

void TreeExample::collect_difference(const ScoredTree& a, const ScoredTree& b) {
  const auto before = [](const TreePart& x, const TreePart& y) {
    return std::tie(x.kind, x.modifier, x.head, x.third, x.label, x.other_label) <
           std::tie(y.kind, y.modifier, y.head, y.third, y.label, y.other_label);
  };
  parts_.clear();
  other_parts_.clear();
  each_part(typed_, a.arcs, [&](const TreePart& part) { parts_.push_back(part); });
  each_part(typed_, b.arcs, [&](const TreePart& part) { other_parts_.push_back(part); });
  std::sort(parts_.begin(), parts_.end(), before);
  std::sort(other_parts_.begin(), other_parts_.end(), before);
  auto x = parts_.begin(), y = other_parts_.begin();
  while (x != parts_.end() || y != other_parts_.end()) {
    if (y == other_parts_.end() || (x != parts_.end() && before(*x, *y)))
      features_.collect(*x++, 1);
    else if (x == parts_.end() || before(*y, *x))
      features_.collect(*y++, -1);
    else
      ++x, ++y;
  }
}

void TreeExample::collect_expected(const LabelledMarginals& marginals, double amount) {
  constexpr double negligible = 1e-9;
  const ArcSet& arcs = typed_.arcs;
  const PartMarginals& p = marginals.parts;
  const auto add = [&](PartKind kind, std::int32_t arc, std::int32_t other, double probability) {
    if (probability <= negligible) return;
    TreePart part{kind, arcs.head(arc), arcs.modifier(arc), 0, label(arc), -1};
    if (other >= 0) {
      part.third = kind == PartKind::sibling ? arcs.modifier(other) : arcs.head(other);
      part.other_label = label(other);
    }
    check_interruption(1 << 8);
    features_.collect(part, amount * probability);
  };
  for (std::int32_t a = 0; a < arcs.size(); ++a) {
    if (p.arcs[a] <= negligible) continue;
    add(PartKind::arc, a, -1, p.arcs[a]);
    if (scores_.with_siblings) {
      add(PartKind::sibling, a, -1, p.siblings[arcs.sibling(a)]);
      for (std::int32_t b = arcs.inner(a).begin; b < arcs.inner(a).end; ++b)
        add(PartKind::sibling, a, b, p.siblings[arcs.sibling(a, b)]);
    }
    if (scores_.with_grandparents && arcs.head(a) > 0)
      for (const std::int32_t above : arcs.inward(arcs.head(a)))
        add(PartKind::grandparent, a, above, p.grandparents[arcs.grandparent(a, above)]);
  }
}

}  // namespace margent
