// The hierarchical rules of an aligned sentence pair (Chiang 2007, section 3.2).
#pragma once
#include <cstdint>
#include <vector>

#include "translation/aligned_pair.hpp"

namespace margent {

struct ExtractionLimits {
  std::int32_t max_span = 10;           // words of an initial phrase, on either side
  std::int32_t max_source_symbols = 5;  // of a rule, words and nonterminals
  std::int32_t max_nonterminals = 2;    // 0: phrases alone; at most 2
  bool tight = true;                    // no initial phrase begins or ends with a word without links
  bool fractional = false;              // an initial phrase is one count, divided among its rules; else one for each
};

// Counts are kept as integers, so that they add up to the same in any order and are taken off again exactly.
inline constexpr std::int64_t count_of_one = std::int64_t{1} << 20;

// Rules one after the other, one for each way to find it.
struct ExtractedRules {
  std::vector<std::int32_t> symbols;      // of each rule the source side, then the target side
  std::vector<std::int32_t> source_ends;  // where its source side ends in `symbols`,
  std::vector<std::int32_t> ends;         // and where it ends
  std::vector<std::int64_t> counts;       // in parts of count_of_one

  void clear() { symbols.clear(), source_ends.clear(), ends.clear(), counts.clear(); }
};

// An initial phrase: source words [begin, end), target words [target_begin, target_end), which have links with each
// other, at least one, and with no words outside.
struct InitialPhrase {
  std::int32_t begin, end, target_begin, target_end, n_links;
};

// All initial phrases within the limits, sorted by begin, end and target words. Costs O(n * max_span) for n source
// words, where phrases are tight.
std::vector<InitialPhrase> initial_phrases(const AlignedPair& pair, const ExtractionLimits& limits);

// Adds the rules of a pair: an initial phrase with at most two initial phrases in it replaced by nonterminals, which do
// not meet on the source side and leave at least one linked pair of words.
void extract_rules(const AlignedPair& pair, const ExtractionLimits& limits, ExtractedRules& out);

}  // namespace margent
