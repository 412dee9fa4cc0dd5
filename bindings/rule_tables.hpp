// Tables of translation rules as Python hands them over, kept alive and checked.
#pragma once
#include "bindings.hpp"
#include "translation/rule_table.hpp"

// Checks all that the native search relies on: with such arrays it cannot go wrong, whatever they say.
struct BoundRuleTable {
  Ids child_ptr, child_symbol;
  Doubles source_counts;
  Ids rule_ptr, rule_target;
  Doubles rule_counts;
  Floats lexical;
  Ptr target_ptr;
  Ids target_symbols;
  Doubles target_counts;
  std::int32_t n_source_words, n_target_words;

  BoundRuleTable(Ids child_ptr, Ids child_symbol, Doubles source_counts, Ids rule_ptr, Ids rule_target,
                 Doubles rule_counts, Floats lexical, Ptr target_ptr, Ids target_symbols, Doubles target_counts,
                 std::int32_t n_source_words, std::int32_t n_target_words);
  margent::RuleTable view() const;
};

struct BoundRuleSources {
  Ptr ptr;
  Ids rules;
  Doubles counts;

  BoundRuleSources(const BoundRuleTable& table, Ptr ptr, Ids rules, Doubles counts);
  margent::RuleSources view() const;
};
