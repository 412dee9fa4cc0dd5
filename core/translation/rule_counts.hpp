// The rules of a corpus, counted, and the table made of them.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "text/strings.hpp"
#include "translation/aligned_pair.hpp"
#include "translation/lexical_weights.hpp"
#include "translation/rule_extraction.hpp"
#include "translation/rule_table.hpp"

namespace margent {

struct TableLimits {
  double min_count = 0;          // rules that were seen less often are left out
  std::int32_t max_targets = 0;  // of a source side so many target sides, the most frequent; 0: all
};

// The arrays behind a RuleTable and its RuleSources.
struct BuiltTable {
  std::vector<std::int32_t> child_ptr, child_symbol, rule_ptr, rule_target, target_symbols;
  std::vector<double> source_counts, rule_counts, target_counts;
  std::vector<float> lexical;
  std::vector<std::int64_t> target_ptr;
  std::vector<std::int64_t> sentence_ptr;
  std::vector<std::int32_t> sentence_rules;
  std::vector<double> sentence_counts;
};

// Strings of symbols as paths of a tree, numbered as they come; node 0 is the empty string.
class SymbolTrie {
 public:
  std::int32_t add(std::span<const std::int32_t> symbols);
  std::int32_t size() const { return static_cast<std::int32_t>(symbol_.size()); }
  std::int32_t parent(std::int32_t node) const { return parent_[static_cast<std::size_t>(node)]; }
  std::int32_t symbol(std::int32_t node) const { return symbol_[static_cast<std::size_t>(node)]; }
  // Of each node its number when the kept ones are numbered level by level, those of a level by parent and symbol;
  // not_found: it is not kept. With a node its parent must be kept; the root always is.
  std::vector<std::int32_t> numbered(const std::vector<bool>& kept) const;

 private:
  KeyTable table_;
  std::vector<std::int32_t> parent_{0}, symbol_{0}, depth_{0};
};

class RuleCounts {
 public:
  // Extracts the rules of all pairs, by several threads.
  RuleCounts(const AlignedPairs& pairs, const ExtractionLimits& limits, int threads);

  // The order of rules and targets depends on the rules and their counts alone. `with_sources`: what each sentence
  // adds is in the table as well.
  BuiltTable table(const TableLimits& limits, const LexicalWeights& lexical, bool with_sources, int threads) const;

 private:
  void add(const ExtractedRules& rules);

  SymbolTrie sources_, targets_;
  KeyTable rules_;
  std::vector<std::int32_t> rule_source_, rule_target_;
  std::vector<std::int64_t> counts_;
  std::vector<std::int64_t> sentence_ptr_{0};
  std::vector<std::int32_t> sentence_rules_;
  std::vector<std::int64_t> sentence_counts_;
};

}  // namespace margent
