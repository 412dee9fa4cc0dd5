#include "arcs/labelled_scores.hpp"

#include <algorithm>
#include <cmath>

#include "arcs/spanning_trees.hpp"
#include "forest/semiring.hpp"

namespace margent {

namespace {

double log_sum(const double* row, int n) {
  const double top = *std::max_element(row, row + n);
  if (top == log_zero) return top;
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += std::exp(row[i] - top);
  return top + std::log(sum);
}

}  // namespace

TreeOrder LabelledScores::order() const {
  return with_grandparents ? TreeOrder::grandparents : with_siblings ? TreeOrder::siblings : TreeOrder::first;
}

PartScores LabelledScores::over_labels(bool sums, TreeWorkspace& work) const {
  PartScores out{values.data(), with_siblings ? siblings.data() : nullptr,
                 with_grandparents ? grandparents.data() : nullptr};
  if (!n_labels) return out;
  const std::size_t n = static_cast<std::size_t>(arcs.size());
  work.arcs.resize(n);
  work.best_labels.resize(n);
  for (std::size_t a = 0; a < n; ++a) {
    const double* row = values.data() + a * n_labels;
    if (sums) {
      work.arcs[a] = log_sum(row, n_labels);
    } else {
      const double* best = std::max_element(row, row + n_labels);
      work.best_labels[a] = static_cast<std::int32_t>(best - row);
      work.arcs[a] = *best;
    }
  }
  out.arcs = work.arcs.data();
  return out;
}

double LabelledScores::score(const ScoredTree& tree) const {
  double sum = 0;
  for (std::size_t i = 0; i < tree.arcs.size(); ++i) sum += value(tree.arcs[i], n_labels ? tree.labels[i] : 0);
  if (!with_siblings && !with_grandparents) return sum;
  each_second_order_part(
      arcs, tree.arcs,
      [&](std::int64_t part, std::int32_t, std::int32_t) { sum += with_siblings ? siblings[part] : 0; },
      [&](std::int64_t part, std::int32_t, std::int32_t) { sum += with_grandparents ? grandparents[part] : 0; });
  return sum;
}

bool LabelledScores::by_words_wanted() const {
  if (kind.projective || n_labels) return false;
  for (std::int32_t a = 0; a < arcs.size(); ++a)
    if (arcs.first(a) != a) return true;
  return false;
}

LabelledScores LabelledScores::by_words(std::vector<std::int32_t>& first) const {
  LabelledScores out;
  out.kind = kind;
  const std::size_t n = static_cast<std::size_t>(arcs.n_nodes());
  std::vector<std::uint8_t> allowed(n * n, 0);
  first.clear();
  for (std::int32_t a = 0; a < arcs.size(); ++a) {
    allowed[arcs.head(a) * n + arcs.modifier(a)] = 1;
    if (arcs.first(a) == a) first.push_back(a);
    out.n_labels = std::max(out.n_labels, a - arcs.first(a) + 1);
  }
  out.arcs.assign(arcs.n_words(), allowed.data());
  out.values.assign(first.size() * static_cast<std::size_t>(out.n_labels), log_zero);
  for (std::int32_t a = 0, g = -1; a < arcs.size(); ++a) {
    g += arcs.first(a) == a;
    out.values[static_cast<std::size_t>(g) * out.n_labels + a - arcs.first(a)] = values[static_cast<std::size_t>(a)];
  }
  return out;
}

namespace {

// From arcs with labels beside them back to the arcs that these are.
ScoredTree ungrouped(ScoredTree tree, const std::vector<std::int32_t>& first) {
  for (std::size_t i = 0; i < tree.arcs.size(); ++i) tree.arcs[i] = first[tree.arcs[i]] + tree.labels[i];
  tree.labels.clear();
  return tree;
}

}  // namespace

ScoredTree LabelledScores::best(TreeWorkspace& work) const {
  if (std::vector<std::int32_t> first; by_words_wanted()) return ungrouped(by_words(first).best(work), first);
  ScoredTree out;
  const PartScores scores = over_labels(false, work);
  out.score = kind.projective
                  ? projective_best(ProjectiveChart(arcs, order(), kind.single_root), scores, work.chart, out.arcs)
                  : spanning_best(arcs, scores.arcs, kind.single_root, out.arcs);
  if (n_labels)
    for (const std::int32_t arc : out.arcs) out.labels.push_back(work.best_labels[arc]);
  return out;
}

std::vector<ScoredTree> LabelledScores::k_best(std::int64_t k, TreeWorkspace& work) const {
  if (std::vector<std::int32_t> first; by_words_wanted()) {
    std::vector<ScoredTree> found = by_words(first).k_best(k, work);
    for (ScoredTree& tree : found) tree = ungrouped(std::move(tree), first);
    return found;
  }
  const PartScores scores = over_labels(false, work);
  return kind.projective ? projective_k_best(ProjectiveChart(arcs, order(), kind.single_root), scores, labels(), k)
                         : spanning_k_best(arcs, scores.arcs, labels(), kind.single_root, k);
}

double LabelledScores::log_partition(TreeWorkspace& work) const {
  if (std::vector<std::int32_t> first; by_words_wanted()) return by_words(first).log_partition(work);
  const PartScores scores = over_labels(true, work);
  return kind.projective
             ? projective_log_partition(ProjectiveChart(arcs, order(), kind.single_root), scores, work.chart)
             : spanning_sums(arcs, scores.arcs, kind.single_root, false).log_partition;
}

LabelledMarginals LabelledScores::marginals(TreeWorkspace& work) const {
  LabelledMarginals out;
  if (std::vector<std::int32_t> first; by_words_wanted()) {
    const LabelledScores grouped = by_words(first);
    const LabelledMarginals found = grouped.marginals(work);
    out.parts.log_partition = found.parts.log_partition;
    out.parts.arcs.resize(static_cast<std::size_t>(arcs.size()));
    for (std::int32_t a = 0, g = -1; a < arcs.size(); ++a) {
      g += arcs.first(a) == a;
      out.parts.arcs[static_cast<std::size_t>(a)] =
          found.labels[static_cast<std::size_t>(g) * grouped.n_labels + a - arcs.first(a)];
    }
    return out;
  }
  const PartScores scores = over_labels(true, work);
  out.parts = kind.projective
                  ? projective_marginals(ProjectiveChart(arcs, order(), kind.single_root), scores, work.chart)
                  : spanning_sums(arcs, scores.arcs, kind.single_root, true);
  if (!n_labels) return out;
  out.labels.assign(values.size(), 0.0);
  for (std::size_t a = 0; a < out.parts.arcs.size(); ++a) {
    if (!(out.parts.arcs[a] > 0)) continue;
    const double* row = values.data() + a * static_cast<std::size_t>(n_labels);
    double* shares = out.labels.data() + a * static_cast<std::size_t>(n_labels);
    const double top = *std::max_element(row, row + n_labels);
    double sum = 0;  // with it shares sum up to one, however large the scores are
    for (int l = 0; l < n_labels; ++l) sum += shares[l] = std::exp(row[l] - top);
    for (int l = 0; l < n_labels; ++l) shares[l] *= out.parts.arcs[a] / sum;
  }
  return out;
}

ProjectiveForest LabelledScores::forest() const {
  TreeWorkspace work;
  const PartScores scores = over_labels(false, work);
  return projective_forest(ProjectiveChart(arcs, order(), kind.single_root), scores, labels(), n_labels);
}

}  // namespace margent
