// Bindings of the table of rules: its arrays, checked.
#include <algorithm>
#include <cmath>

#include "translation.hpp"

using namespace margent;

namespace {

template <class T>
void check_offsets(std::span<const T> ptr, std::size_t n, std::int64_t total, const char* message) {
  bool good = ptr.size() == n + 1 && ptr.front() == 0 && static_cast<std::int64_t>(ptr.back()) == total;
  for (std::size_t i = 1; good && i < ptr.size(); ++i) good = ptr[i] >= ptr[i - 1];
  if (!good) throw nb::value_error(message);
}

void check_counts(std::span<const double> counts, bool positive) {
  for (const double count : counts)
    if (!(positive ? count > 0 : count >= 0) || !std::isfinite(count)) throw nb::value_error("a count is out of range");
}

}  // namespace

BoundRuleTable::BoundRuleTable(Ids child_ptr, Ids child_symbol, Doubles source_counts, Ids rule_ptr, Ids rule_target,
                               Doubles rule_counts, Lexical lexical, Ptr target_ptr, Ids target_symbols,
                               Doubles target_counts, std::optional<std::tuple<Ptr, Ids, Doubles>> sources)
    : child_ptr_(child_ptr), child_symbol_(child_symbol), source_counts_(source_counts), rule_ptr_(rule_ptr),
      rule_target_(rule_target), rule_counts_(rule_counts), lexical_(lexical), target_ptr_(target_ptr),
      target_symbols_(target_symbols), target_counts_(target_counts), given_(std::move(sources)),
      view_{::view(child_ptr_),
            ::view(child_symbol_),
            ::view(source_counts_),
            ::view(rule_ptr_),
            ::view(rule_target_),
            ::view(rule_counts_),
            {lexical_.data(), lexical_.size()},
            ::view(target_ptr_),
            ::view(target_symbols_),
            ::view(target_counts_)} {
  check();
  if (given_) {
    const auto& [ptr, rules, counts] = *given_;
    check_ptr(ptr, n_entries(rules), "sources of rules");
    if (n_entries(counts) != n_entries(rules)) throw nb::value_error("a count for each source of a rule");
    check_ids(rules, view_.n_rules(), "a rule is out of range");
    check_counts(::view(counts), false);
    sources_ = RuleSources{::view(ptr), ::view(rules), ::view(counts)};
  }
}

void BoundRuleTable::check() const {
  const std::size_t n_nodes = source_counts_.size(), n_rules = rule_target_.size(), n_targets = target_counts_.size();
  if (n_nodes < 1) throw nb::value_error("a table of rules has a node");
  check_offsets(view_.child_ptr, n_nodes, static_cast<std::int64_t>(n_nodes) - 1, "children of nodes");
  if (view_.child_symbol.size() + 1 != n_nodes) throw nb::value_error("a symbol for each node but the first");
  check_offsets(view_.rule_ptr, n_nodes, static_cast<std::int64_t>(n_rules), "rules of nodes");
  if (view_.rule_counts.size() != n_rules || view_.lexical.size() != 2 * n_rules || lexical_.shape(1) != 2)
    throw nb::value_error("a count and two lexical weights for each rule");
  check_offsets(view_.target_ptr, n_targets, n_entries(target_symbols_), "target sides");
  check_ids(rule_target_, static_cast<std::int64_t>(n_targets), "a target side is out of range");
  check_counts(view_.source_counts.subspan(1), true);
  check_counts(view_.rule_counts, true);
  check_counts(view_.target_counts, true);
  for (const float weight : view_.lexical)
    if (!std::isfinite(weight)) throw nb::value_error("a lexical weight is not finite");
  // The nonterminals on the way to each node, and whether it ends with one.
  std::vector<std::int32_t> gaps(n_nodes, 0);
  if (view_.rule_ptr[1] != 0) throw nb::value_error("a rule without a source side");
  for (std::size_t node = 0; node < n_nodes; ++node) {
    std::int32_t before = source_nonterminal - 1;
    for (auto k = static_cast<std::size_t>(view_.child_ptr[node]);
         k < static_cast<std::size_t>(view_.child_ptr[node + 1]); ++k) {
      const std::int32_t symbol = view_.child_symbol[k];
      if (symbol <= before) throw nb::value_error("symbols of children should rise");
      before = symbol;
      if (k + 1 <= node) throw nb::value_error("a node comes before its parent");
      gaps[k + 1] = gaps[node] + (symbol == source_nonterminal);
      if (gaps[k + 1] > 2) throw nb::value_error("a source side has more than two nonterminals");
    }
    // Each target side has the nonterminals of the source side, each once, and more than nothing.
    for (std::int32_t rule = view_.rule_ptr[node]; rule < view_.rule_ptr[node + 1]; ++rule) {
      std::int32_t seen[2] = {0, 0};
      const auto target = view_.target(rule);
      for (const std::int32_t symbol : target) {
        if (symbol < second_nonterminal) throw nb::value_error("a symbol of a target side is out of range");
        if (symbol < 0) ++seen[-symbol - 1];
      }
      if (target.empty() || seen[0] != (gaps[node] > 0) || seen[1] != (gaps[node] > 1))
        throw nb::value_error("the two sides of a rule should have the same nonterminals");
    }
  }
  // What only passes on its nonterminals would go on for ever.
  for (std::size_t k = 0; k < static_cast<std::size_t>(view_.child_ptr[1]); ++k)
    if (view_.child_symbol[k] == source_nonterminal && view_.rule_ptr[k + 1] != view_.rule_ptr[k + 2])
      throw nb::value_error("the source side of a rule is a nonterminal alone");
}

void bind_translation_table(nb::module_& m) {
  nb::class_<BoundRuleTable>(m, "RuleTable", "Views of the arrays of a table of rules, checked.")
      .def(nb::init<Ids, Ids, Doubles, Ids, Ids, Doubles, BoundRuleTable::Lexical, Ptr, Ids, Doubles,
                    std::optional<std::tuple<Ptr, Ids, Doubles>>>(),
           nb::arg("child_ptr"), nb::arg("child_symbol"), nb::arg("source_counts"), nb::arg("rule_ptr"),
           nb::arg("rule_target"), nb::arg("rule_counts"), nb::arg("lexical"), nb::arg("target_ptr"),
           nb::arg("target_symbols"), nb::arg("target_counts"), nb::arg("sources").none() = nb::none())
      .def_prop_ro("n_rules", [](const BoundRuleTable& self) { return self.view().n_rules(); });
}
