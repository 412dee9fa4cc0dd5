#include "translation/rule_counts.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "interruption.hpp"
#include "parallel.hpp"

namespace margent {

namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

std::uint64_t key_of(std::int32_t high, std::int32_t low) {
  return mix((static_cast<std::uint64_t>(high) << 32) | static_cast<std::uint32_t>(low));
}

double as_count(std::int64_t parts) { return static_cast<double>(parts) / static_cast<double>(count_of_one); }

// The symbols on the way to a node.
void spell(const SymbolTrie& trie, std::int32_t node, std::vector<std::int32_t>& out) {
  out.clear();
  for (; node != 0; node = trie.parent(node)) out.push_back(trie.symbol(node));
  std::reverse(out.begin(), out.end());
}

constexpr std::int64_t slice = 512;  // sentences whose rules are in memory at once

}  // namespace

std::int32_t SymbolTrie::add(std::span<const std::int32_t> symbols) {
  std::int32_t node = 0;
  for (const std::int32_t symbol : symbols) {
    const std::int32_t next = table_.add(key_of(node, symbol)) + 1;
    if (next == size()) {
      parent_.push_back(node);
      symbol_.push_back(symbol);
      depth_.push_back(depth_[at(node)] + 1);
    }
    node = next;
  }
  return node;
}

std::vector<std::int32_t> SymbolTrie::numbered(const std::vector<bool>& kept) const {
  std::vector<std::vector<std::int32_t>> levels;
  for (std::int32_t node = 1; node < size(); ++node) {
    if (!kept[at(node)]) continue;
    const std::size_t level = at(depth_[at(node)]) - 1;
    if (level >= levels.size()) levels.resize(level + 1);
    levels[level].push_back(node);
  }
  std::vector<std::int32_t> number(symbol_.size(), not_found);
  number[0] = 0;
  std::int32_t next = 1;
  for (std::vector<std::int32_t>& level : levels) {
    check_interruption(static_cast<std::int64_t>(level.size()) * 100);
    std::sort(level.begin(), level.end(), [&](std::int32_t a, std::int32_t b) {
      return std::pair(number[at(parent(a))], symbol(a)) < std::pair(number[at(parent(b))], symbol(b));
    });
    for (const std::int32_t node : level) number[at(node)] = next++;
  }
  return number;
}

RuleCounts::RuleCounts(const AlignedPairs& pairs, const ExtractionLimits& limits, int threads) {
  std::vector<ExtractedRules> found(static_cast<std::size_t>(std::min(slice, pairs.size())));
  for (std::int64_t first = 0; first < pairs.size(); first += slice) {
    const std::int64_t n = std::min(slice, pairs.size() - first);
    parallel(n, threads, [&](std::size_t, std::int64_t i) {
      ExtractedRules& rules = found[static_cast<std::size_t>(i)];
      rules.clear();
      extract_rules(pairs[first + i], limits, rules);
    });
    for (std::int64_t i = 0; i < n; ++i) add(found[static_cast<std::size_t>(i)]);
  }
}

void RuleCounts::add(const ExtractedRules& rules) {
  std::vector<std::pair<std::int32_t, std::int64_t>> own;
  own.reserve(rules.counts.size());
  const std::span<const std::int32_t> symbols(rules.symbols);
  std::size_t begin = 0;
  for (std::size_t r = 0; r < rules.counts.size(); ++r) {
    const std::size_t middle = at(rules.source_ends[r]), end = at(rules.ends[r]);
    const std::int32_t source = sources_.add(symbols.subspan(begin, middle - begin));
    const std::int32_t target = targets_.add(symbols.subspan(middle, end - middle));
    const std::int32_t rule = rules_.add(key_of(source, target));
    if (at(rule) == counts_.size()) {
      rule_source_.push_back(source);
      rule_target_.push_back(target);
      counts_.push_back(0);
    }
    counts_[at(rule)] += rules.counts[r];
    own.emplace_back(rule, rules.counts[r]);
    begin = end;
  }
  check_interruption(static_cast<std::int64_t>(rules.symbols.size()) * 64);
  std::sort(own.begin(), own.end());
  for (std::size_t k = 0; k < own.size(); ++k) {
    if (k == 0 || own[k].first != own[k - 1].first) {
      sentence_rules_.push_back(own[k].first);
      sentence_counts_.push_back(0);
    }
    sentence_counts_.back() += own[k].second;
  }
  sentence_ptr_.push_back(static_cast<std::int64_t>(sentence_rules_.size()));
}

BuiltTable RuleCounts::table(const TableLimits& limits, const LexicalWeights& lexical, bool with_sources,
                             int threads) const {
  const std::size_t n_rules = counts_.size();
  std::vector<std::int64_t> of_source(at(sources_.size()), 0), of_target(at(targets_.size()), 0);
  for (std::size_t r = 0; r < n_rules; ++r) {
    of_source[at(rule_source_[r])] += counts_[r];
    of_target[at(rule_target_[r])] += counts_[r];
  }

  // Which rules stay, in their order.
  const std::vector<std::int32_t> source_rank = sources_.numbered(std::vector<bool>(at(sources_.size()), true));
  const std::vector<std::int32_t> target_rank = targets_.numbered(std::vector<bool>(at(targets_.size()), true));
  std::vector<std::int32_t> order(n_rules);
  std::iota(order.begin(), order.end(), 0);
  check_interruption(static_cast<std::int64_t>(n_rules) * 200);
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    const auto key = [&](std::int32_t r) {
      return std::tuple(source_rank[at(rule_source_[at(r)])], -counts_[at(r)], target_rank[at(rule_target_[at(r)])]);
    };
    return key(a) < key(b);
  });
  std::size_t n_kept = 0;
  std::int32_t source = -1, n_targets = 0;
  for (const std::int32_t rule : order) {
    if (rule_source_[at(rule)] != source) source = rule_source_[at(rule)], n_targets = 0;
    if (limits.max_targets > 0 && n_targets >= limits.max_targets) continue;
    if (as_count(counts_[at(rule)]) < limits.min_count) continue;
    order[n_kept++] = rule;
    ++n_targets;
  }
  order.resize(n_kept);

  // Source sides as a trie.
  std::vector<bool> kept(at(sources_.size()), false), used(at(targets_.size()), false);
  kept[0] = true;
  for (const std::int32_t rule : order) {
    for (std::int32_t node = rule_source_[at(rule)]; !kept[at(node)]; node = sources_.parent(node))
      kept[at(node)] = true;
    used[at(rule_target_[at(rule)])] = true;
  }
  const std::vector<std::int32_t> number = sources_.numbered(kept);
  const auto n_nodes = static_cast<std::size_t>(std::count(kept.begin(), kept.end(), true));
  BuiltTable out;
  out.child_ptr.assign(n_nodes + 1, 0);
  out.child_symbol.assign(n_nodes - 1, 0);
  out.source_counts.assign(n_nodes, 0);
  for (std::int32_t node = 0; node < sources_.size(); ++node) {
    const std::int32_t own = number[at(node)];
    if (own == not_found) continue;
    out.source_counts[at(own)] = as_count(of_source[at(node)]);
    if (own == 0) continue;
    ++out.child_ptr[at(number[at(sources_.parent(node))]) + 1];
    out.child_symbol[at(own) - 1] = sources_.symbol(node);
  }
  std::partial_sum(out.child_ptr.begin(), out.child_ptr.end(), out.child_ptr.begin());

  // Target sides in the order of their ranks.
  std::vector<std::int32_t> sides;
  for (std::int32_t node = 0; node < targets_.size(); ++node)
    if (used[at(node)]) sides.push_back(node);
  std::sort(sides.begin(), sides.end(),
            [&](std::int32_t a, std::int32_t b) { return target_rank[at(a)] < target_rank[at(b)]; });
  std::vector<std::int32_t> side_number(at(targets_.size()), not_found), symbols;
  out.target_ptr.push_back(0);
  for (const std::int32_t node : sides) {
    side_number[at(node)] = static_cast<std::int32_t>(out.target_counts.size());
    spell(targets_, node, symbols);
    out.target_symbols.insert(out.target_symbols.end(), symbols.begin(), symbols.end());
    out.target_ptr.push_back(static_cast<std::int64_t>(out.target_symbols.size()));
    out.target_counts.push_back(as_count(of_target[at(node)]));
    check_interruption(64);
  }

  // Rules.
  std::vector<std::int32_t> rule_number(n_rules, not_found);
  out.rule_ptr.assign(n_nodes + 1, 0);
  for (const std::int32_t rule : order) {
    rule_number[at(rule)] = static_cast<std::int32_t>(out.rule_target.size());
    ++out.rule_ptr[at(number[at(rule_source_[at(rule)])]) + 1];
    out.rule_target.push_back(side_number[at(rule_target_[at(rule)])]);
    out.rule_counts.push_back(as_count(counts_[at(rule)]));
  }
  std::partial_sum(out.rule_ptr.begin(), out.rule_ptr.end(), out.rule_ptr.begin());
  out.lexical.resize(2 * n_kept);
  constexpr std::size_t rules_of_a_task = 4096;
  parallel(static_cast<std::int64_t>((n_kept + rules_of_a_task - 1) / rules_of_a_task), threads,
           [&](std::size_t, std::int64_t task) {
             std::vector<std::int32_t> f, e;
             const std::size_t first = static_cast<std::size_t>(task) * rules_of_a_task;
             for (std::size_t r = first; r < std::min(n_kept, first + rules_of_a_task); ++r) {
               spell(sources_, rule_source_[at(order[r])], f);
               spell(targets_, rule_target_[at(order[r])], e);
               out.lexical[2 * r] = static_cast<float>(lexical.log_target_given_source(f, e));
               out.lexical[2 * r + 1] = static_cast<float>(lexical.log_source_given_target(f, e));
               check_interruption(1 << 10);
             }
           });

  if (!with_sources) return out;
  out.sentence_ptr.push_back(0);
  std::vector<std::pair<std::int32_t, std::int64_t>> own;
  for (std::size_t s = 0; s + 1 < sentence_ptr_.size(); ++s) {
    own.clear();
    for (auto k = static_cast<std::size_t>(sentence_ptr_[s]); k < static_cast<std::size_t>(sentence_ptr_[s + 1]); ++k)
      if (const std::int32_t rule = rule_number[at(sentence_rules_[k])]; rule != not_found)
        own.emplace_back(rule, sentence_counts_[k]);
    std::sort(own.begin(), own.end());
    for (const auto& [rule, count] : own) {
      out.sentence_rules.push_back(rule);
      out.sentence_counts.push_back(as_count(count));
    }
    out.sentence_ptr.push_back(static_cast<std::int64_t>(out.sentence_rules.size()));
    check_interruption(static_cast<std::int64_t>(own.size()) * 50);
  }
  return out;
}

}  // namespace margent
