// Listed transcriptions of words as candidates of a reranker: their features, and their scores by given weights.
#pragma once
#include <cstdint>
#include <vector>

#include "cosegments/cosegment_features.hpp"

namespace margent {

// Candidates [candidate_ptr[s], candidate_ptr[s + 1]) are those of word s; candidate c is aligned by
// graphones[graphone_ptr[c]], .., graphones[graphone_ptr[c + 1] - 1], and another model gives it scores[c].
struct AlignedCandidates {
  const Graphones& inventory;
  std::int64_t n_words;
  const std::int64_t* letter_ptr;
  const std::int32_t* letters;
  const std::int64_t *candidate_ptr, *graphone_ptr;
  const std::int32_t* graphones;
  const double* scores;

  Symbols word(std::int64_t s) const { return {letters + letter_ptr[s], letters + letter_ptr[s + 1]}; }
  Symbols alignment(std::int64_t c) const { return {graphones + graphone_ptr[c], graphones + graphone_ptr[c + 1]}; }
};

// Entries [ptr[c], ptr[c + 1]) are the features of candidate c, the score as feature 0 among them.
struct CandidateFeatures {
  std::vector<std::int64_t> ptr{0};
  std::vector<std::int32_t> ids;
  std::vector<float> values;
};

// Without what all candidates of a word have in common: it cannot change their order.
CandidateFeatures candidate_features(const AlignedCandidates& candidates, int bits, int threads);

// weights . features of each candidate, with 2^bits + 1 weights.
std::vector<double> candidate_scores(const AlignedCandidates& candidates, const float* weights, int bits, int threads);

}  // namespace margent
