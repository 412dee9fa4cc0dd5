// Scores of dependency trees: sums over the parts of a tree, and which label an arc has.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "arcs/arc_set.hpp"

namespace margent {

// The arc into each word, by its number in an ArcSet: [n_words].
using Tree = std::vector<std::int32_t>;

// By the numbers that an ArcSet gives to parts. Finite, or -inf for what may not be.
struct PartScores {
  const double* arcs;
  const double* siblings = nullptr;      // null: there are no such parts
  const double* grandparents = nullptr;  // null: there are no such parts
};

// Scores of labels by arc, [size][n_labels]. An arc's own score is then their maximum, or the log of their sum.
struct ArcLabels {
  const double* scores = nullptr;  // null: arcs have no labels
  int n_labels = 0;
};

struct ScoredTree {
  double score = 0;
  Tree arcs;
  std::vector<std::int32_t> labels;  // [n_words], or empty
};

struct PartMarginals {
  double log_partition = 0;
  std::vector<double> arcs, siblings, grandparents;
};

// Calls sibling(part, arc, inner arc or -1) and grandparent(part, arc, arc above) for the parts of a tree, which need
// not be projective.
template <class Sibling, class Grandparent>
void each_second_order_part(const ArcSet& arcs, const Tree& tree, Sibling sibling, Grandparent grandparent) {
  std::vector<std::int32_t> sorted(tree);  // by number: modifiers of a head on one side follow each other, outward
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const std::int32_t arc = sorted[i];
    if (i > 0 && sorted[i - 1] >= arcs.inner(arc).begin)
      sibling(arcs.sibling(arc, sorted[i - 1]), arc, sorted[i - 1]);
    else
      sibling(arcs.sibling(arc), arc, -1);
    if (arcs.head(arc) == 0) continue;
    const std::int32_t above = tree[static_cast<std::size_t>(arcs.head(arc)) - 1];
    grandparent(arcs.grandparent(arc, above), arc, above);
  }
}

// What a tree scores.
double tree_score(const ArcSet& arcs, const PartScores& scores, const Tree& tree);

// The arcs of a tree by heads [n_words]; false where one is not allowed.
bool find_tree(const ArcSet& arcs, const std::int32_t* heads, Tree& tree);

}  // namespace margent
