// The derivations of right translations, found by forced decoding once for all weights (paper 003, Section 5.2.2).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "translation/translation_search.hpp"

namespace margent {

// Right translations of sentences, one or several of each.
struct ReferenceArrays {
  const std::int64_t* sentence_ptr = nullptr;  // [n + 1], the references of each sentence
  const std::int64_t* ptr = nullptr;           // [references + 1]
  const std::int32_t* words = nullptr;

  References of(std::int64_t sentence) const {
    const std::int64_t first = sentence_ptr[sentence], last = sentence_ptr[sentence + 1];
    return {{ptr + first, static_cast<std::size_t>(last - first + 1)}, words};
  }
};

// A forest of whole derivations; empty, where none is right. Scores are those of the weights that were asked for last.
struct RightForest {
  PackedForest forest;
  std::vector<RuleUse> uses;                   // of edges
  std::vector<TranslationCell> cells;          // of nodes
  std::vector<ReferenceStates::State> states;  // of nodes

  bool empty() const { return uses.empty(); }
};

// Of each sentence. `most_edges`: so many are made in a cell at most; 0: all.
std::vector<RightForest> right_forests(const TranslationSetup& setup, const ReferenceArrays& references,
                                       std::int64_t most_edges, int threads);

}  // namespace margent
