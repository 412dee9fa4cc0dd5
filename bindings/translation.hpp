// What bindings of translation share: the table of rules with the arrays that it looks into.
#pragma once
#include <optional>

#include "bindings.hpp"
#include "translation/rule_table.hpp"

class BoundRuleTable {
 public:
  using Lexical = Array<float, nb::ndim<2>>;
  BoundRuleTable(Ids child_ptr, Ids child_symbol, Doubles source_counts, Ids rule_ptr, Ids rule_target,
                 Doubles rule_counts, Lexical lexical, Ptr target_ptr, Ids target_symbols, Doubles target_counts,
                 std::optional<std::tuple<Ptr, Ids, Doubles>> sources);
  const margent::RuleTable& view() const { return view_; }
  // What each training sentence added to it, or null.
  const margent::RuleSources* sources() const { return sources_ ? &*sources_ : nullptr; }

 private:
  void check() const;

  Ids child_ptr_, child_symbol_;
  Doubles source_counts_;
  Ids rule_ptr_, rule_target_;
  Doubles rule_counts_;
  Lexical lexical_;
  Ptr target_ptr_;
  Ids target_symbols_;
  Doubles target_counts_;
  std::optional<std::tuple<Ptr, Ids, Doubles>> given_;
  margent::RuleTable view_;
  std::optional<margent::RuleSources> sources_;
};
