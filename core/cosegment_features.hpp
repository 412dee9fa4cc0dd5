// Features of a word cut into units: units in their letter windows, grams of units, grams of phonemes.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "cosegments.hpp"

namespace margent {

// A feature and how often it occurs.
using CountedFeatures = std::vector<std::pair<std::int32_t, float>>;

// The features of a cut, as numbers from 1 to 2^bits: their hashes, sorted, each once. Number 0 is left for the score of
// another model.
void cosegment_features(const CosegmentUnits& units, Symbols word, Symbols cut, int bits, CountedFeatures& out);

// Takes away what all of several lists have in common.
void remove_common(std::vector<CountedFeatures>& lists);

}  // namespace margent
