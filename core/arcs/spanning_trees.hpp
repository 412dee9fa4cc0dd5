// Spanning trees of one sentence, projective or not: the best, the k best, and sums over all of them.
#pragma once
#include <cstdint>
#include <vector>

#include "arcs/arc_scores.hpp"

namespace margent {

// The tree with the highest sum of arcs [size] and its score; -inf, and no arcs, where there is none. O(n^2) for n
// words (Chu and Liu 1965; Edmonds 1967; Tarjan 1977 for dense graphs). With single_root exactly one arc leaves the
// root. Differs from Zmigrod et al. (2020), who try the roots one after the other: weights are ordered by the number of
// root arcs first and by score second, so one search finds the best tree of those with the fewest root arcs, exactly.
double spanning_best(const ArcSet& arcs, const double* scores, bool single_root, Tree& tree);

// The k best labelled trees in order of score, exactly; fewer where there are fewer. The trees that remain are split by
// the first word at which they differ from the one found (Lawler 1972): O(n^3) for each tree.
std::vector<ScoredTree> spanning_k_best(const ArcSet& arcs, const double* scores, const ArcLabels& labels,
                                        bool single_root, std::int64_t k);

// The probability of each arc under exp(score) / Z, and log Z, the logarithm of the sum of exp(score) over all trees;
// with marginals = false log Z alone. O(n^3) time; O(n^3) memory for marginals.
//
// Z is the determinant of the matrix-tree theorem (Smith and Smith 2007; Koo et al. 2007), worked out by eliminating
// words one by one. With a(h, m) = exp(score) and d(k) = sum over heads h of a(h, k), word k goes by
//
//   a(i, j) += a(i, k) a(k, j) / d(k)  for all others i, j,  which divides Z by d(k).
//
// With one root its row is not part of d, and Z is the product of all d times a(root, last word). No numbers are ever
// subtracted (as Grassmann, Taksar and Heyman 1985 do for Markov chains), so nothing cancels, however close to singular
// the matrix is; where products of weights could leave the range of a double, all is done with logarithms.
PartMarginals spanning_sums(const ArcSet& arcs, const double* scores, bool single_root, bool marginals);

}  // namespace margent
