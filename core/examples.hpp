// Encoded sequences, ready for a linear chain: views over arrays that somebody else owns.
#pragma once
#include <cstdint>

#include "rows.hpp"

namespace margent {

inline constexpr std::int32_t unlabelled = -1;

struct Examples {
  std::int64_t n_sequences = 0;
  const std::int64_t* sequence_ptr = nullptr;  // [n_sequences + 1]: tokens of sequence s
  Features unigrams;                           // feature x label
  Features edges;                              // feature x previous label x label; ptr null where there are none
  // Labels allowed at each token, in compressed rows; an empty row allows all. Null: all everywhere.
  const std::int64_t* allowed_ptr = nullptr;
  const std::int32_t* allowed = nullptr;
  // Training only: gold labels, `unlabelled` where not known, and the weight of each sequence (null: 1).
  const std::int32_t* labels = nullptr;
  const float* weights = nullptr;

  std::int64_t begin(std::int64_t s) const { return sequence_ptr[s]; }
  int length(std::int64_t s) const { return static_cast<int>(sequence_ptr[s + 1] - sequence_ptr[s]); }
};

}  // namespace margent
