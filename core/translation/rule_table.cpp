#include "translation/rule_table.hpp"

namespace margent {

namespace {

// Sums of counts with the same number.
void merge(std::vector<std::pair<std::int32_t, double>>& counts) {
  std::sort(counts.begin(), counts.end());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (kept > 0 && counts[kept - 1].first == counts[i].first)
      counts[kept - 1].second += counts[i].second;
    else
      counts[kept++] = counts[i];
  }
  counts.resize(kept);
}

}  // namespace

LeftOut::LeftOut(const RuleTable& table, const RuleSources& sources, std::int64_t sentence) : table_(&table) {
  const auto s = static_cast<std::size_t>(sentence);
  for (auto k = static_cast<std::size_t>(sources.ptr[s]); k < static_cast<std::size_t>(sources.ptr[s + 1]); ++k) {
    const std::int32_t rule = sources.rules[k];
    // The last node whose rules begin at this rule or before it.
    const auto after = std::upper_bound(table.rule_ptr.begin(), table.rule_ptr.end(), rule);
    own_rules_.emplace_back(rule, sources.counts[k]);
    own_nodes_.emplace_back(static_cast<std::int32_t>(after - table.rule_ptr.begin()) - 1, sources.counts[k]);
    own_targets_.emplace_back(table.rule_target[static_cast<std::size_t>(rule)], sources.counts[k]);
  }
  merge(own_rules_);
  merge(own_nodes_);
  merge(own_targets_);
}

}  // namespace margent
