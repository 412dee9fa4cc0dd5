// The chart of projective trees as a packed forest, and the k best of its derivations.
#include <algorithm>
#include <numeric>

#include "arcs/projective_trees.hpp"
#include "forest/forest.hpp"
#include "interruption.hpp"

namespace margent {

ProjectiveForest projective_forest(const ProjectiveChart& chart, const PartScores& scores, const ArcLabels& labels,
                                   std::int64_t most_labels) {
  ProjectiveForest forest;
  const ArcSet& arcs = chart.arcs();
  // Spans and arcs get the number of a node when they have a derivation; until then -1.
  std::vector<std::int32_t> node(static_cast<std::size_t>(chart.size()), -1);
  std::vector<std::int32_t> node_of_arc(static_cast<std::size_t>(arcs.size()), -1);
  const auto edge = [&](double score, std::initializer_list<std::int32_t> tails, std::int32_t arc, std::int32_t label) {
    forest.heads.push_back(forest.n_nodes);
    for (const std::int32_t tail : tails)
      if (tail >= 0) forest.tails.push_back(tail);
    forest.tail_ptr.push_back(static_cast<std::int64_t>(forest.tails.size()));
    forest.scores.push_back(score);
    forest.arcs.push_back(arc);
    forest.labels.push_back(label);
  };
  // A node for each arc, and an edge for each of its labels: no derivation of the k best needs more than its k best.
  std::vector<std::int32_t> order(static_cast<std::size_t>(labels.n_labels));
  for (std::int32_t a = 0; a < arcs.size(); ++a) {
    check_interruption(64 + 8 * labels.n_labels);
    if (scores.arcs[a] == log_zero) continue;
    const std::size_t before = forest.heads.size();
    if (!labels.scores) {
      edge(scores.arcs[a], {}, a, -1);
    } else {
      const double* row = labels.scores + std::size_t(a) * labels.n_labels;
      std::iota(order.begin(), order.end(), 0);
      const std::size_t n = static_cast<std::size_t>(std::min<std::int64_t>(most_labels, labels.n_labels));
      std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n), order.end(),
                        [&](std::int32_t x, std::int32_t y) { return row[x] > row[y] || (row[x] == row[y] && x < y); });
      for (std::size_t i = 0; i < n; ++i)
        if (row[order[i]] > log_zero) edge(row[order[i]], {}, a, order[i]);
    }
    if (forest.heads.size() > before) node_of_arc[static_cast<std::size_t>(a)] = forest.n_nodes++;
  }
  chart.each_empty([&](std::int32_t span) {
    edge(0, {}, -1, -1);
    node[static_cast<std::size_t>(span)] = forest.n_nodes++;
  });
  chart.walk<true>([&](std::int32_t span, std::int32_t arc, std::int64_t grandparent, auto terms) {
    check_interruption(1 << 10);
    const std::int32_t leaf = arc < 0 ? -1 : node_of_arc[static_cast<std::size_t>(arc)];
    if (arc >= 0 && leaf < 0) return;
    const double base = scores.grandparents && grandparent >= 0 ? scores.grandparents[grandparent] : 0.0;
    const std::size_t before = forest.heads.size();
    terms([&](std::int32_t x, std::int32_t y, std::int64_t sibling) {
      const std::int32_t first = node[static_cast<std::size_t>(x)];
      const std::int32_t second = y < 0 ? -1 : node[static_cast<std::size_t>(y)];
      const double score = base + (scores.siblings && sibling >= 0 ? scores.siblings[sibling] : 0.0);
      if (first >= 0 && (y < 0 || second >= 0) && score > log_zero) edge(score, {first, second, leaf}, -1, -1);
    });
    if (forest.heads.size() > before) node[static_cast<std::size_t>(span)] = forest.n_nodes++;
  });
  // The root is the last node, also where the goal is not (there are no words) or has no derivation.
  const std::int32_t goal = node[static_cast<std::size_t>(chart.goal())];
  if (goal < 0 || goal + 1 != forest.n_nodes) {
    if (goal >= 0) edge(0, {goal}, -1, -1);
    ++forest.n_nodes;
  }
  return forest;
}

std::vector<ScoredTree> projective_k_best(const ProjectiveChart& chart, const PartScores& scores,
                                          const ArcLabels& labels, std::int64_t k) {
  const ProjectiveForest forest = projective_forest(chart, scores, labels, k);
  // Edges were made node by node, so those into a node follow each other.
  std::vector<std::int64_t> incoming_ptr(static_cast<std::size_t>(forest.n_nodes) + 1, 0);
  for (const std::int32_t head : forest.heads) ++incoming_ptr[static_cast<std::size_t>(head) + 1];
  std::partial_sum(incoming_ptr.begin(), incoming_ptr.end(), incoming_ptr.begin());
  std::vector<std::int32_t> incoming(forest.heads.size());
  std::iota(incoming.begin(), incoming.end(), 0);
  const Derivations found =
      k_best(Forest(forest.n_nodes - 1, forest.tail_ptr, forest.tails, incoming_ptr, incoming, forest.scores), k);
  std::vector<ScoredTree> trees(found.size());
  const std::size_t n = static_cast<std::size_t>(chart.arcs().n_words());
  for (std::size_t i = 0; i < trees.size(); ++i) {
    trees[i].score = found.scores[i];
    trees[i].arcs.assign(n, -1);
    if (labels.scores) trees[i].labels.assign(n, -1);
    for (const std::int32_t e : found[i]) {
      const std::int32_t arc = forest.arcs[static_cast<std::size_t>(e)];
      if (arc < 0) continue;
      const std::size_t m = static_cast<std::size_t>(chart.arcs().modifier(arc)) - 1;
      trees[i].arcs[m] = arc;
      if (labels.scores) trees[i].labels[m] = forest.labels[static_cast<std::size_t>(e)];
    }
  }
  return trees;
}

}  // namespace margent
