#include "arcs/tree_scores.hpp"

#include <algorithm>
#include <cmath>

#include "arcs/spanning_trees.hpp"
#include "forest/semiring.hpp"

namespace margent {

namespace {

std::vector<std::uint8_t> allowed(const TreeArrays& arrays) {
  const std::size_t n = static_cast<std::size_t>(arrays.n_words) + 1,
                    labels = static_cast<std::size_t>(arrays.n_labels);
  std::vector<std::uint8_t> out(n * n);
  for (std::size_t i = 0; i < n * n; ++i) {
    const bool labelled = !arrays.labels || std::any_of(arrays.labels + i * labels, arrays.labels + (i + 1) * labels,
                                                        [](double score) { return score > log_zero; });
    out[i] = arrays.arcs[i] > log_zero && labelled;
  }
  return out;
}

double log_sum(const double* row, int n) {
  const double top = *std::max_element(row, row + n);
  if (top == log_zero) return top;
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += std::exp(row[i] - top);
  return top + std::log(sum);
}

}  // namespace

TreeScores::TreeScores(const TreeArrays& arrays, TreeKind kind)
    : kind_(kind), n_labels_(arrays.labels ? arrays.n_labels : 0), arcs_(arrays.n_words, allowed(arrays).data()) {
  const std::size_t n = static_cast<std::size_t>(arcs_.n_nodes()), labels = static_cast<std::size_t>(n_labels_);
  const auto cube = [&](const double* from, int i, int j, int k) { return from[(i * n + j) * n + k]; };
  for (std::int32_t a = 0; a < arcs_.size(); ++a) {
    const int h = arcs_.head(a), m = arcs_.modifier(a);
    const double arc = arrays.arcs[h * n + m];
    if (n_labels_) {
      const double* row = arrays.labels + (h * n + m) * labels;
      for (std::size_t l = 0; l < labels; ++l) labels_.push_back(arc + row[l]);
      const double* added = labels_.data() + a * labels;
      best_label_.push_back(static_cast<std::int32_t>(std::max_element(added, added + labels) - added));
      best_.push_back(added[best_label_.back()]);
      sums_.push_back(log_sum(added, n_labels_));
    } else {
      best_.push_back(arc);
    }
    if (arrays.siblings) {
      siblings_.push_back(cube(arrays.siblings, h, h, m));
      for (std::int32_t b = arcs_.inner(a).begin; b < a; ++b)
        siblings_.push_back(cube(arrays.siblings, h, arcs_.modifier(b), m));
    }
    if (arrays.grandparents && h > 0)
      for (const std::int32_t above : arcs_.inward(h))
        grandparents_.push_back(cube(arrays.grandparents, arcs_.head(above), h, m));
  }
  // A chart of grandparents has siblings as well, and one of siblings may have none of its own.
  if (arrays.grandparents && !arrays.siblings) siblings_.assign(static_cast<std::size_t>(arcs_.n_siblings()), 0.0);
  if (arrays.siblings && siblings_.empty()) siblings_.push_back(0);
  if (arrays.grandparents && grandparents_.empty()) grandparents_.push_back(0);
}

TreeOrder TreeScores::order() const {
  return !grandparents_.empty() ? TreeOrder::grandparents : !siblings_.empty() ? TreeOrder::siblings : TreeOrder::first;
}

PartScores TreeScores::parts(bool sums) const {
  return {sums && n_labels_ ? sums_.data() : best_.data(), siblings_.empty() ? nullptr : siblings_.data(),
          grandparents_.empty() ? nullptr : grandparents_.data()};
}

HeadsAndLabels TreeScores::named(double score, const Tree& tree, const std::vector<std::int32_t>& labels) const {
  HeadsAndLabels out{score, {}, labels};
  for (const std::int32_t arc : tree) {
    out.heads.push_back(arcs_.head(arc));
    if (n_labels_ && labels.empty()) out.labels.push_back(best_label_[arc]);
  }
  return out;
}

HeadsAndLabels TreeScores::best() const {
  Tree tree;
  if (!kind_.projective) {
    const double score = spanning_best(arcs_, best_.data(), kind_.single_root, tree);
    return named(score, tree, {});
  }
  ProjectiveWorkspace work;
  const ProjectiveChart chart(arcs_, order(), kind_.single_root);
  const double score = projective_best(chart, parts(false), work, tree);
  return named(score, tree, {});
}

std::vector<HeadsAndLabels> TreeScores::k_best(std::int64_t k) const {
  const std::vector<ScoredTree> found =
      kind_.projective
          ? projective_k_best(ProjectiveChart(arcs_, order(), kind_.single_root), parts(false), labels(), k)
          : spanning_k_best(arcs_, best_.data(), labels(), kind_.single_root, k);
  std::vector<HeadsAndLabels> out;
  for (const ScoredTree& tree : found) out.push_back(named(tree.score, tree.arcs, tree.labels));
  return out;
}

double TreeScores::log_partition() const {
  if (!kind_.projective) return spanning_sums(arcs_, parts(true).arcs, kind_.single_root, false).log_partition;
  ProjectiveWorkspace work;
  return projective_log_partition(ProjectiveChart(arcs_, order(), kind_.single_root), parts(true), work);
}

TreeProbabilities TreeScores::marginals() const {
  ProjectiveWorkspace work;
  const PartScores scores = parts(true);
  const PartMarginals found =
      kind_.projective ? projective_marginals(ProjectiveChart(arcs_, order(), kind_.single_root), scores, work)
                       : spanning_sums(arcs_, scores.arcs, kind_.single_root, true);
  const std::size_t n = static_cast<std::size_t>(arcs_.n_nodes()), labels = static_cast<std::size_t>(n_labels_);
  TreeProbabilities out;
  out.log_partition = found.log_partition;
  out.arcs.assign(n * n, 0.0);
  out.labels.assign(n * n * labels, 0.0);
  if (!siblings_.empty()) out.siblings.assign(n * n * n, 0.0);
  if (!grandparents_.empty()) out.grandparents.assign(n * n * n, 0.0);
  for (std::int32_t a = 0; a < arcs_.size(); ++a) {
    const std::size_t h = arcs_.head(a), m = arcs_.modifier(a);
    out.arcs[h * n + m] = found.arcs[a];
    for (std::size_t l = 0; l < labels; ++l)
      out.labels[(h * n + m) * labels + l] = found.arcs[a] * std::exp(labels_[a * labels + l] - sums_[a]);
    if (!siblings_.empty()) {
      out.siblings[(h * n + h) * n + m] = found.siblings[arcs_.sibling(a)];
      for (std::int32_t b = arcs_.inner(a).begin; b < a; ++b)
        out.siblings[(h * n + arcs_.modifier(b)) * n + m] = found.siblings[arcs_.sibling(a, b)];
    }
    if (!grandparents_.empty() && h > 0)
      for (const std::int32_t above : arcs_.inward(static_cast<int>(h)))
        out.grandparents[(arcs_.head(above) * n + h) * n + m] = found.grandparents[arcs_.grandparent(a, above)];
  }
  return out;
}

double TreeScores::score(const std::int32_t* heads, const std::int32_t* labels) const {
  Tree tree;
  if (!find_tree(arcs_, heads, tree)) return log_zero;
  double sum = tree_score(arcs_, parts(false), tree);
  if (n_labels_)
    for (std::size_t i = 0; i < tree.size(); ++i)
      sum += labels_[static_cast<std::size_t>(tree[i]) * n_labels_ + labels[i]] - best_[tree[i]];
  return sum;
}

ProjectiveForest TreeScores::forest() const {
  return projective_forest(ProjectiveChart(arcs_, order(), kind_.single_root), parts(false), labels(), n_labels_);
}

}  // namespace margent
