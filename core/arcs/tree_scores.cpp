#include "arcs/tree_scores.hpp"

#include <algorithm>
#include <cmath>

#include "arcs/spanning_trees.hpp"
#include "forest/semiring.hpp"
#include "interruption.hpp"

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

}  // namespace

TreeScores::TreeScores(const TreeArrays& arrays, TreeKind kind) {
  scores_.kind = kind;
  scores_.n_labels = arrays.labels ? arrays.n_labels : 0;
  scores_.arcs.assign(arrays.n_words, allowed(arrays).data());
  // A chart of grandparents has siblings as well, and one of siblings may have none of its own.
  scores_.with_grandparents = arrays.grandparents != nullptr;
  scores_.with_siblings = arrays.siblings != nullptr;
  const ArcSet& arcs = scores_.arcs;
  const std::size_t n = static_cast<std::size_t>(arcs.n_nodes()), labels = static_cast<std::size_t>(n_labels());
  const auto cube = [&](const double* from, int i, int j, int k) { return from[(i * n + j) * n + k]; };
  for (std::int32_t a = 0; a < arcs.size(); ++a) {
    const int h = arcs.head(a), m = arcs.modifier(a);
    check_interruption(8 * static_cast<std::int64_t>(n + labels));
    const double arc = arrays.arcs[h * n + m];
    const double* row = labels ? arrays.labels + (h * n + m) * labels : nullptr;
    for (std::size_t l = 0; l < labels; ++l) scores_.values.push_back(arc + row[l]);
    if (!labels) scores_.values.push_back(arc);
    if (arrays.siblings) {
      scores_.siblings.push_back(cube(arrays.siblings, h, h, m));
      for (std::int32_t b = arcs.inner(a).begin; b < arcs.inner(a).end; ++b)
        scores_.siblings.push_back(cube(arrays.siblings, h, arcs.modifier(b), m));
    }
    if (arrays.grandparents && h > 0)
      for (const std::int32_t above : arcs.inward(h))
        scores_.grandparents.push_back(cube(arrays.grandparents, arcs.head(above), h, m));
  }
}

HeadsAndLabels TreeScores::named(const ScoredTree& tree) const {
  HeadsAndLabels out{tree.score, {}, tree.labels};
  for (const std::int32_t arc : tree.arcs) out.heads.push_back(arcs().head(arc));
  return out;
}

HeadsAndLabels TreeScores::best() const {
  TreeWorkspace work;
  return named(scores_.best(work));
}

std::vector<HeadsAndLabels> TreeScores::k_best(std::int64_t k) const {
  TreeWorkspace work;
  std::vector<HeadsAndLabels> out;
  for (const ScoredTree& tree : scores_.k_best(k, work)) out.push_back(named(tree));
  return out;
}

double TreeScores::log_partition() const {
  TreeWorkspace work;
  return scores_.log_partition(work);
}

TreeProbabilities TreeScores::marginals() const {
  TreeWorkspace work;
  const LabelledMarginals found = scores_.marginals(work);
  const ArcSet& arcs = scores_.arcs;
  const std::size_t n = static_cast<std::size_t>(arcs.n_nodes()), labels = static_cast<std::size_t>(n_labels());
  TreeProbabilities out;
  out.log_partition = found.parts.log_partition;
  out.arcs.assign(n * n, 0.0);
  out.labels.assign(n * n * labels, 0.0);
  if (scores_.with_siblings) out.siblings.assign(n * n * n, 0.0);
  if (scores_.with_grandparents) out.grandparents.assign(n * n * n, 0.0);
  for (std::int32_t a = 0; a < arcs.size(); ++a) {
    const std::size_t h = arcs.head(a), m = arcs.modifier(a);
    out.arcs[h * n + m] = found.parts.arcs[a];
    for (std::size_t l = 0; l < labels; ++l) out.labels[(h * n + m) * labels + l] = found.labels[a * labels + l];
    if (scores_.with_siblings) {
      out.siblings[(h * n + h) * n + m] = found.parts.siblings[arcs.sibling(a)];
      for (std::int32_t b = arcs.inner(a).begin; b < arcs.inner(a).end; ++b)
        out.siblings[(h * n + arcs.modifier(b)) * n + m] = found.parts.siblings[arcs.sibling(a, b)];
    }
    if (scores_.with_grandparents && h > 0)
      for (const std::int32_t above : arcs.inward(static_cast<int>(h)))
        out.grandparents[(arcs.head(above) * n + h) * n + m] = found.parts.grandparents[arcs.grandparent(a, above)];
  }
  return out;
}

double TreeScores::score(const std::int32_t* heads, const std::int32_t* labels) const {
  ScoredTree tree;
  if (!find_tree(arcs(), heads, tree.arcs)) return log_zero;
  if (n_labels()) tree.labels.assign(labels, labels + tree.arcs.size());
  return scores_.score(tree);
}

ProjectiveForest TreeScores::forest() const { return scores_.forest(); }

}  // namespace margent
