// Scores of the trees of one sentence as plain arrays, and all questions to them.
#pragma once
#include <cstdint>
#include <vector>

#include "arcs/labelled_scores.hpp"

namespace margent {

// Row-major, N = n_words + 1 nodes, 0 the root. A tree scores the sum of
//   arcs[h][m] + labels[h][m][l]   of its arcs,
//   siblings[h][s][m]              of an arc and the next modifier s of h inward, on the same side; s = h: there is
//   none grandparents[g][h][m]          of an arc and the head g of its head h, which is a word.
struct TreeArrays {
  int n_words = 0, n_labels = 0;
  const double* arcs = nullptr;
  const double* labels = nullptr;        // or null
  const double* siblings = nullptr;      // or null
  const double* grandparents = nullptr;  // or null
};

struct TreeProbabilities {
  double log_partition = 0;
  std::vector<double> arcs, labels, siblings, grandparents;  // as in TreeArrays; empty where there are none
};

// Copies what it needs. Parts of second order are for projective trees alone.
class TreeScores {
 public:
  TreeScores(const TreeArrays& arrays, TreeKind kind);

  // -inf, and no heads, where there is no tree.
  HeadsAndLabels best() const;
  std::vector<HeadsAndLabels> k_best(std::int64_t k) const;
  double log_partition() const;
  TreeProbabilities marginals() const;
  // The score of one tree; -inf for one with an arc that is not allowed. It is not checked to be a tree.
  double score(const std::int32_t* heads, const std::int32_t* labels) const;
  // Of projective trees.
  ProjectiveForest forest() const;
  const ArcSet& arcs() const { return scores_.arcs; }
  int n_labels() const { return scores_.n_labels; }

 private:
  HeadsAndLabels named(const ScoredTree& tree) const;

  LabelledScores scores_;
};

}  // namespace margent
