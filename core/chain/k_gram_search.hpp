// The best outputs by scores of k-grams of bi-symbols, each input having a few candidates.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace margent {

// Where the candidates of inputs stand, and which inputs stand side by side.
struct KGramLayout {
  int order = 2;                                // k >= 2: how many inputs a context has
  std::int64_t n_symbols = 0;                   // m
  std::span<const std::int64_t> candidate_ptr;  // [inputs + 1], into `candidates`
  std::span<const std::int32_t> candidates;     // bi-symbols < m; -1 is one that scores nothing
  std::span<const std::int32_t> contexts;       // [contexts][k]: different inputs side by side, the last one last
  std::span<const std::int32_t> tokens;         // the context of each token, of which it is the last input
  std::span<const std::int64_t> sequence_ptr;   // [sequences + 1], into `tokens`
};

// Scores of l-grams, [m^l], l <= k.
struct GramScores {
  int length = 1;
  const double* scores = nullptr;
};

// For each sequence the outputs whose l-grams score most together, by dynamic programming over the candidates of the
// last k - 1 inputs:
//
//   V_t(j_2 .. j_k) = max over j_1 of  V_{t-1}(j_1 .. j_{k-1}) + (scores of all l-grams that end with j_k)  +
//   cost(j_k).
//
// The scores depend on the context alone, so they are summed once for each of them, into a dense block: no more numbers
// than the tables have, and each token reads its own in order. The best j_1 is looked for again on the way back, where
// it matters. O(c^k) for a token with c candidates.
//
// `gold`, if not empty, has a bi-symbol for each token: every other costs 1, which is added. Of equal outputs those are
// found that the way back meets first. Writes the score of each sequence and the bi-symbol of each token; `threads` do
// not change the results.
void k_gram_search(const KGramLayout& layout, const std::vector<GramScores>& tables, std::span<const std::int32_t> gold,
                   int threads, double* scores, std::int32_t* symbols);

}  // namespace margent
