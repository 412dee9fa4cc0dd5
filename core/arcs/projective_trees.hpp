// Projective trees of one sentence: the best, the k best, and sums over all of them.
#pragma once
#include <cstdint>
#include <vector>

#include "arcs/arc_scores.hpp"
#include "arcs/projective_chart.hpp"

namespace margent {

// Memory that calls share.
struct ProjectiveWorkspace {
  std::vector<double> values, flows, terms;
  std::vector<std::int32_t> back;
};

// The best tree and its score; -inf, and no arcs, where there is none. Ties go to the term that comes first.
double projective_best(const ProjectiveChart& chart, const PartScores& scores, ProjectiveWorkspace& work, Tree& tree);

// The k best labelled trees in order of score, exactly; fewer where there are fewer. The forest of the chart is built,
// and its k best derivations found.
std::vector<ScoredTree> projective_k_best(const ProjectiveChart& chart, const PartScores& scores,
                                          const ArcLabels& labels, std::int64_t k);

// log Z, the logarithm of the sum of exp(score) over all trees.
double projective_log_partition(const ProjectiveChart& chart, const PartScores& scores, ProjectiveWorkspace& work);

// The probability of each part under exp(score) / Z, and log Z: one pass up, one down. The probability that a span is
// in the tree flows down to its terms, in proportion to what they added to it.
PartMarginals projective_marginals(const ProjectiveChart& chart, const PartScores& scores, ProjectiveWorkspace& work);

// The forest of the chart as arrays, for tests and structures of one's own: its derivations are the trees.
struct ProjectiveForest {
  std::vector<std::int32_t> heads, tails;  // of edges
  std::vector<std::int64_t> tail_ptr{0};
  std::vector<double> scores;
  std::vector<std::int32_t> arcs, labels;  // of an edge that is an arc with a label; -1: of another
  std::int32_t n_nodes = 0;                // the last is the root
};
ProjectiveForest projective_forest(const ProjectiveChart& chart, const PartScores& scores, const ArcLabels& labels,
                                   std::int64_t most_labels);

}  // namespace margent
