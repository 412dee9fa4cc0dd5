// How often the labels of the examples were seen: with each feature, after each history, at the end.
#pragma once
#include <cstdint>
#include <vector>

#include "chain/chain.hpp"
#include "chain/examples.hpp"

namespace margent {

// Each occurrence counts the weight of its sequence; one of a feature also its value. Where a label is not known, what
// depends on it is not counted. The tables are as those of TransitionWeights; in double, as floats cannot count past
// 2^24.
struct GoldCounts {
  // (feature, label) pairs that were seen, in compressed rows: columns ascending.
  std::vector<std::int64_t> ptr{0};
  std::vector<std::int32_t> columns;
  std::vector<double> counts;
  bool negative = false;                         // whether some feature has a value below 0
  std::vector<std::vector<double>> transitions;  // per level: [B^j][width]
  std::vector<std::vector<double>> ends;         // per level: [B^(j-1)][width]
};

GoldCounts count_gold(const Examples& examples, const ChainShape& shape, std::int64_t n_unigrams);

}  // namespace margent
