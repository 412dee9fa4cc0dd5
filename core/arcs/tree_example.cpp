#include "arcs/tree_example.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <tuple>

#include "forest/semiring.hpp"
#include "parallel.hpp"

namespace margent {

TreeProblem::TreeProblem(const PartTemplates& templates, const TreeExamples& examples, const HeadFilter* filter,
                         TreeKind kind, int n_labels, int bits, double label_cost, int threads)
    : templates_(templates), examples_(examples), kind_(kind), n_labels_(n_labels), bits_(bits),
      label_cost_(label_cost), filtered_(filter != nullptr), state_(static_cast<std::size_t>(examples.size())),
      kept_(filter ? static_cast<std::size_t>(examples.size()) : 0) {
  const int n_threads = workers(examples.size(), threads);
  std::vector<std::optional<HeadFilter::Workspace>> work(static_cast<std::size_t>(n_threads));
  std::vector<std::vector<std::uint8_t>> allowed(static_cast<std::size_t>(n_threads));
  parallel(examples.size(), threads, [&](std::size_t thread, std::int64_t i) {
    state_[static_cast<std::size_t>(i)] = state_of(i);
    if (!filter) return;
    if (!work[thread]) work[thread].emplace(*filter);
    filter->keep(examples_.atoms_of(i), examples_.n_words(i), *work[thread], allowed[thread]);
    for (std::size_t at = 0; at < allowed[thread].size(); ++at)
      if (allowed[thread][at]) kept_[static_cast<std::size_t>(i)].push_back(static_cast<std::int32_t>(at));
  });
}

TreeProblem::State TreeProblem::state_of(std::int64_t i) const {
  const std::int32_t *heads = examples_.heads_of(i), *labels = examples_.labels_of(i);
  const int n = examples_.n_words(i);
  int n_roots = 0;
  for (int m = 1; m <= n; ++m) {
    if (heads[m - 1] < 0 || (n_labels_ && labels[m - 1] < 0)) return State::partial;
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

void TreeProblem::find_arcs(std::int64_t i, std::vector<std::uint8_t>& allowed, ArcSet& out) const {
  const int n = examples_.n_words(i);
  allowed.assign(static_cast<std::size_t>(n + 1) * (n + 1), !filtered_);
  if (filtered_) {
    for (const std::int32_t at : kept_[static_cast<std::size_t>(i)]) allowed[static_cast<std::size_t>(at)] = 1;
    for (int m = 1; m <= n; ++m)
      if (const int head = examples_.heads_of(i)[m - 1]; head >= 0)
        allowed[static_cast<std::size_t>(head) * (n + 1) + m] = 1;
  }
  out.assign(n, allowed.data());
}

void TreeExample::turn_to(std::int64_t example, const double* weights, double scale) {
  example_ = example;
  problem_->find_arcs(example, allowed_, scores_.arcs);
  scores_.kind = problem_->kind();
  features_.turn_to(example, weights, scale);
  features_.score(scores_);
  plain_ = scores_.values;
}

bool TreeExample::wrong_head(std::int32_t arc) const {
  const std::int32_t head = problem_->examples().heads_of(example_)[scores_.arcs.modifier(arc) - 1];
  return head >= 0 && head != scores_.arcs.head(arc);
}

bool TreeExample::wrong_label(std::int32_t arc, std::int32_t label) const {
  if (!problem_->n_labels()) return false;
  const std::int32_t right = problem_->examples().labels_of(example_)[scores_.arcs.modifier(arc) - 1];
  return right >= 0 && right != label;
}

template <class Change>
const LabelledScores& TreeExample::changed(Change change) {
  changed_ = plain_;
  const int n = std::max(problem_->n_labels(), 1);
  for (std::int32_t a = 0; a < scores_.arcs.size(); ++a)
    for (std::int32_t l = 0; l < n; ++l) change(changed_[static_cast<std::size_t>(a) * n + l], a, l);
  return with(changed_);
}

const LabelledScores& TreeExample::with_costs(double cost) {
  if (cost == 0) return all();
  return changed([&](double& value, std::int32_t arc, std::int32_t label) {
    value += wrong_head(arc) ? cost : wrong_label(arc, label) ? cost * problem_->label_cost() : 0;
  });
}

const LabelledScores& TreeExample::right() {
  return changed([&](double& value, std::int32_t arc, std::int32_t label) {
    if (wrong_head(arc) || wrong_label(arc, label)) value = log_zero;
  });
}

ScoredTree TreeExample::gold(TreeWorkspace& work) {
  if (!problem_->is_complete(example_)) return right().best(work);
  ScoredTree tree;
  if (problem_->is_out_of_reach(example_)) return tree;
  const TreeExamples& all = problem_->examples();
  find_tree(scores_.arcs, all.heads_of(example_), tree.arcs);
  if (problem_->n_labels())
    tree.labels.assign(all.labels_of(example_), all.labels_of(example_) + all.n_words(example_));
  tree.score = score(tree);
  return tree;
}

double TreeExample::loss(const ScoredTree& tree) const {
  double sum = 0;
  for (std::size_t i = 0; i < tree.arcs.size(); ++i) {
    if (wrong_head(tree.arcs[i]))
      sum += 1;
    else if (wrong_label(tree.arcs[i], tree.labels.empty() ? 0 : tree.labels[i]))
      sum += problem_->label_cost();
  }
  return sum;
}

std::int64_t TreeExample::errors(const ScoredTree& tree) const {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < tree.arcs.size(); ++i)
    sum += wrong_head(tree.arcs[i]) || wrong_label(tree.arcs[i], tree.labels.empty() ? 0 : tree.labels[i]);
  return sum;
}

void TreeExample::collect(const ScoredTree& tree, double amount) {
  each_part(scores_.arcs, tree, [&](const TreePart& part) { features_.collect(part, amount); });
}

void TreeExample::collect_difference(const ScoredTree& a, const ScoredTree& b) {
  const auto before = [](const TreePart& x, const TreePart& y) {
    return std::tie(x.kind, x.modifier, x.head, x.third) < std::tie(y.kind, y.modifier, y.head, y.third);
  };
  parts_.clear();
  other_parts_.clear();
  each_part(scores_.arcs, a, [&](const TreePart& part) { parts_.push_back(part); });
  each_part(scores_.arcs, b, [&](const TreePart& part) { other_parts_.push_back(part); });
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
  const ArcSet& arcs = scores_.arcs;
  const auto add = [&](const TreePart& part, double p) {
    if (p > negligible) features_.collect(part, amount * p);
  };
  const std::int32_t n_labels = problem_->n_labels();
  for (std::int32_t a = 0; a < arcs.size(); ++a) {
    const std::int32_t h = arcs.head(a), m = arcs.modifier(a);
    if (marginals.parts.arcs[a] <= negligible) continue;
    add({PartKind::arc, h, m}, marginals.parts.arcs[a]);
    for (std::int32_t l = 0; l < n_labels; ++l)
      add({PartKind::label, h, m, l}, marginals.labels[static_cast<std::size_t>(a) * n_labels + l]);
    if (scores_.with_siblings) {
      add({PartKind::sibling, h, m, 0}, marginals.parts.siblings[arcs.sibling(a)]);
      for (std::int32_t b = arcs.inner(a).begin; b < a; ++b)
        add({PartKind::sibling, h, m, arcs.modifier(b)}, marginals.parts.siblings[arcs.sibling(a, b)]);
    }
    if (scores_.with_grandparents && h > 0)
      for (const std::int32_t above : arcs.inward(h))
        add({PartKind::grandparent, h, m, arcs.head(above)}, marginals.parts.grandparents[arcs.grandparent(a, above)]);
  }
}

}  // namespace margent
