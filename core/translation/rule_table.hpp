// The rules X -> <f, e> of a hierarchical grammar (Chiang 2007), found by their source sides.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "text/strings.hpp"
#include "translation/dense_features.hpp"

namespace margent {

// A nonterminal in a source side; in a target side first_nonterminal and second_nonterminal say which of the source
// side's, in the order in which they stand there.
inline constexpr std::int32_t source_nonterminal = -1;
inline constexpr std::int32_t first_nonterminal = -1, second_nonterminal = -2;

// Views of arrays that somebody else owns and has checked, a model file for instance. Symbols >= 0 are words.
//
// Source sides are the paths of a trie from node 0, level by level: child number k of the trie, in the order of
// child_ptr, is node k + 1, so that a node's children are the nodes from child_ptr[node] + 1 on, sorted by symbol (the
// nonterminal first). Rules are sorted by the node where their source side ends, then by count, the most frequent
// first, then by target side. Glue rules, pass-through and unknown words are the decoder's business.
struct RuleTable {
  std::span<const std::int32_t> child_ptr;     // [n_nodes + 1], from 0 to n_nodes - 1
  std::span<const std::int32_t> child_symbol;  // [n_nodes - 1]
  std::span<const double> source_counts;       // [n_nodes] c(f), of all that was seen with f
  std::span<const std::int32_t> rule_ptr;      // [n_nodes + 1]
  std::span<const std::int32_t> rule_target;   // [n_rules] number of the target side
  std::span<const double> rule_counts;         // [n_rules] c(f, e)
  std::span<const float> lexical;              // [n_rules x 2] log lex(e | f), log lex(f | e)
  std::span<const std::int64_t> target_ptr;    // [n_targets + 1]
  std::span<const std::int32_t> target_symbols;
  std::span<const double> target_counts;  // [n_targets] c(e)

  std::int32_t n_nodes() const { return static_cast<std::int32_t>(source_counts.size()); }
  std::int32_t n_rules() const { return static_cast<std::int32_t>(rule_target.size()); }
  std::int32_t n_targets() const { return static_cast<std::int32_t>(target_counts.size()); }

  // The node after a symbol, or not_found.
  std::int32_t child(std::int32_t node, std::int32_t symbol) const {
    const auto first = child_symbol.begin() + child_ptr[at(node)],
               last = child_symbol.begin() + child_ptr[at(node) + 1];
    const auto found = std::lower_bound(first, last, symbol);
    if (found == last || *found != symbol) return not_found;
    return static_cast<std::int32_t>(found - child_symbol.begin()) + 1;
  }
  // The rules of a node are numbers first_rule(node) to first_rule(node + 1) - 1.
  std::int32_t first_rule(std::int32_t node) const { return rule_ptr[at(node)]; }
  std::span<const std::int32_t> target(std::int32_t rule) const { return target_side(rule_target[at(rule)]); }
  std::span<const std::int32_t> target_side(std::int32_t number) const {
    const std::int64_t first = target_ptr[at(number)];
    return target_symbols.subspan(static_cast<std::size_t>(first),
                                  static_cast<std::size_t>(target_ptr[at(number) + 1] - first));
  }

  // The features of a rule of this node, from first_table_feature on: [n_table_features].
  void features(std::int32_t node, std::int32_t rule, float* out) const {
    features(rule, rule_counts[at(rule)], source_counts[at(node)], target_counts[at(rule_target[at(rule)])], out);
  }
  // The same under other counts, which are positive.
  void features(std::int32_t rule, double rule_count, double source_count, double target_count, float* out) const {
    const double log_rule = std::log(rule_count);
    const double values[n_table_features] = {log_rule - std::log(source_count),
                                             log_rule - std::log(target_count),
                                             lexical[2 * at(rule)],
                                             lexical[2 * at(rule) + 1],
                                             std::log1p(rule_count),
                                             std::log1p(source_count),
                                             std::log1p(target_count),
                                             rule_count <= 1 ? 1.0 : 0.0,
                                             source_count <= 1 ? 1.0 : 0.0};
    for (std::int32_t k = 0; k < n_table_features; ++k) out[k] = static_cast<float>(values[k]);
  }

 private:
  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
};

// What each training sentence adds to the counts of a table: rows of rules of the table, rising, with the part of
// c(f, e) that comes from the sentence. Views as well.
struct RuleSources {
  std::span<const std::int64_t> ptr;  // [n_sentences + 1]
  std::span<const std::int32_t> rules;
  std::span<const double> counts;
};

// A table as if one of its sentences had not been seen: c(f, e), c(f) and c(e) without what the sentence adds. All
// counts are multiples of 2^-20 and below 2^32, so that differences are exact. Lexical weights stay what they are.
//
// Differs: where the table keeps only some rules of a source side, what the sentence adds to the others stays in c(f)
// and c(e).
class LeftOut {
 public:
  // Of nobody: the table itself.
  explicit LeftOut(const RuleTable& table) : table_(&table) {}
  LeftOut(const RuleTable& table, const RuleSources& sources, std::int64_t sentence);

  // As RuleTable::features; false: the rule was seen in this sentence alone, there are none.
  bool features(std::int32_t node, std::int32_t rule, float* out) const {
    if (own_rules_.empty()) {
      table_->features(node, rule, out);
      return true;
    }
    const auto index = static_cast<std::size_t>(rule);
    const std::int32_t target = table_->rule_target[index];
    const double rule_count = table_->rule_counts[index] - own(own_rules_, rule);
    if (rule_count <= 0) return false;
    table_->features(rule, rule_count, table_->source_counts[static_cast<std::size_t>(node)] - own(own_nodes_, node),
                     table_->target_counts[static_cast<std::size_t>(target)] - own(own_targets_, target), out);
    return true;
  }

 private:
  using Counts = std::vector<std::pair<std::int32_t, double>>;  // sorted, no number twice
  static double own(const Counts& counts, std::int32_t number) {
    const auto found = std::lower_bound(counts.begin(), counts.end(), number,
                                        [](const auto& entry, std::int32_t n) { return entry.first < n; });
    return found != counts.end() && found->first == number ? found->second : 0.0;
  }

  const RuleTable* table_;
  Counts own_rules_, own_nodes_, own_targets_;
};

}  // namespace margent
