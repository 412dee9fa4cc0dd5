// Translation by hierarchical phrases: all ways to parse a source sentence by the source sides of rules, bottom up, as
// the cells of a lazy forest (Chiang 2007; paper 003, Section 5.2.1).
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "forest/lazy_forest.hpp"
#include "translation/rule_features.hpp"
#include "translation/translation_states.hpp"

namespace margent {

// A cell: X over a span, S over the first words, or the goal.
struct TranslationCell {
  enum Symbol : std::int32_t { phrase, sentence, whole };
  Symbol symbol = phrase;
  std::int32_t begin = 0, end = 0;
  bool operator==(const TranslationCell&) const = default;
};

// States: LanguageStates or ReferenceStates. Features: what scores uses of rules; see RuleFeatures.
template <class States>
class TranslationSearch {
 public:
  using Grown = LazyForest<States>;

  explicit TranslationSearch(const TranslationSetup& setup) : setup_(&setup), states_(setup) {}

  States& states() { return states_; }
  const States& states() const { return states_; }
  const Grown& grown() const { return grown_; }
  std::span<const TranslationCell> cells() const { return cells_; }
  const TranslationCell& cell_of(std::int32_t node) const {
    return cells_[static_cast<std::size_t>(grown_.node(node).cell)];
  }
  // The node of all derivations of the sentence, or not_found.
  std::int32_t root() const {
    if (cells_.empty() || cells_.back().symbol != TranslationCell::whole) return not_found;
    const auto nodes = grown_.cell(grown_.n_cells() - 1);
    return nodes.empty() ? not_found : nodes.front();
  }
  const RuleOption& option(std::int32_t edge) const { return states_.option(grown_.edge(edge).option); }

  // For each length of spans, cells from left to right. The rules of a span are found by items with a dot: what is
  // matched of source sides from `begin` on, and the cells under their nonterminals,
  //   dotted(i, j) = dotted(i, j - 1) by word j - 1, and dotted(i, k) by X over k to j, for each k.
  template <class Features>
  void run(std::int64_t sentence, const Features& features, std::int64_t pop_limit) {
    const auto words = setup_->sentences.of(sentence);
    const auto n = static_cast<std::int32_t>(words.size());
    width_ = n + 1;
    grown_.clear();
    cells_.clear();
    states_.options().clear();
    passing_.resize(words.size());
    for (std::size_t i = 0; i < words.size(); ++i) passing_[i] = setup_->n_targets() + static_cast<std::int32_t>(i);
    if (dotted_.size() < static_cast<std::size_t>(width_ * width_))
      dotted_.resize(static_cast<std::size_t>(width_ * width_));
    for (auto& items : dotted_) items.clear();
    phrases_.assign(static_cast<std::size_t>(width_ * width_), not_found);
    for (std::int32_t i = 0; i < n; ++i) dotted(i, i).push_back({});
    const std::int32_t longest = std::min(n, std::max(setup_->span_limit, 1));
    for (std::int32_t length = 1; length <= longest; ++length)
      for (std::int32_t begin = 0; begin + length <= n; ++begin) {
        check_interruption(1 << 10);
        match(begin, begin + length, words);
        grow_phrase(begin, begin + length, features, pop_limit);
      }
    std::vector<std::int32_t> sentences(static_cast<std::size_t>(width_), not_found);
    for (std::int32_t end = 1; end <= n; ++end) {
      cubes_.clear();
      if (phrase(0, end) >= 0) cubes_.push_back(made(first_glue, 0, end, {phrase(0, end), 0}, 1, features));
      for (std::int32_t middle = 1; middle < end; ++middle) {
        const std::int32_t left = sentences[static_cast<std::size_t>(middle)], right = phrase(middle, end);
        if (left >= 0 && right >= 0) cubes_.push_back(made(glue, 0, end, {left, right}, 2, features));
      }
      sentences[static_cast<std::size_t>(end)] = grow({TranslationCell::sentence, 0, end}, pop_limit);
    }
    cubes_.clear();
    const std::int32_t last = sentences[static_cast<std::size_t>(n)];
    if (n > 0 && last >= 0) cubes_.push_back(made(goal, 0, n, {last, 0}, 1, features));
    grow({TranslationCell::whole, 0, n}, pop_limit);
  }

  // Appends the target side of a derivation, edges as `trace` gives them.
  void yield(std::span<const std::int32_t> edges, std::vector<std::int32_t>& out) const {
    std::vector<std::vector<std::int32_t>> parts;
    for (const std::int32_t e : edges) {
      const RuleOption& option = this->option(e);
      const auto n_tails = static_cast<std::size_t>(grown_.edge(e).n_tails);
      std::vector<std::int32_t> said;
      for (const std::int32_t symbol : option.target) {
        if (symbol >= 0) {
          said.push_back(symbol);
        } else {
          const auto& part = parts[parts.size() - n_tails + static_cast<std::size_t>(-symbol - 1)];
          said.insert(said.end(), part.begin(), part.end());
        }
      }
      parts.resize(parts.size() - n_tails);
      parts.push_back(std::move(said));
    }
    if (!parts.empty()) out.insert(out.end(), parts.back().begin(), parts.back().end());
  }

 private:
  struct Dotted {
    std::int32_t node = 0, n_tails = 0;
    std::array<std::int32_t, most_tails> tails{};
    bool gap_first = false, gap_last = false;
  };

  std::vector<Dotted>& dotted(std::int32_t begin, std::int32_t end) {
    return dotted_[static_cast<std::size_t>(begin * width_ + end)];
  }
  std::int32_t& phrase(std::int32_t begin, std::int32_t end) {
    return phrases_[static_cast<std::size_t>(begin * width_ + end)];
  }

  void match(std::int32_t begin, std::int32_t end, std::span<const std::int32_t> words) {
    auto& found = dotted(begin, end);
    const RuleTable& table = setup_->table;
    const std::int32_t word = words[static_cast<std::size_t>(end - 1)];
    if (word >= 0)
      for (const Dotted& item : dotted(begin, end - 1)) {
        const std::int32_t node = table.child(item.node, word);
        if (node == not_found) continue;
        found.push_back(item);
        found.back().node = node;
        found.back().gap_last = false;
      }
    for (std::int32_t middle = begin + 1; middle < end; ++middle) {
      const std::int32_t cell = phrase(middle, end);
      if (cell == not_found) continue;
      for (const Dotted& item : dotted(begin, middle)) add_gap(item, cell, found);
    }
  }
  void add_gap(const Dotted& item, std::int32_t cell, std::vector<Dotted>& out) {
    if (item.n_tails == static_cast<std::int32_t>(most_tails)) return;
    const std::int32_t node = setup_->table.child(item.node, -1);
    if (node == not_found) return;
    Dotted next = item;
    next.tails[static_cast<std::size_t>(next.n_tails++)] = cell;
    next.gap_first = item.node == 0;
    next.gap_last = true;
    if (item.node != 0) next.gap_first = item.gap_first;
    next.node = node;
    out.push_back(next);
  }

  template <class Features>
  void grow_phrase(std::int32_t begin, std::int32_t end, const Features& features, std::int64_t pop_limit) {
    cubes_.clear();
    const auto& items = dotted(begin, end);
    known_.clear();
    for (const Dotted& item : items) {
      const auto node = static_cast<std::size_t>(item.node);
      const std::int32_t first = setup_->table.rule_ptr[node], last = setup_->table.rule_ptr[node + 1];
      if (first == last) continue;
      // Items that differ in their cells share the rules at their node.
      auto same = std::ranges::find(known_, item.node, &Known::node);
      if (same == known_.end()) {
        known_.push_back(options_of(item, first, last, begin, end, features));
        same = known_.end() - 1;
      }
      if (same->n > 0) cubes_.push_back({same->first, same->n, item.n_tails, item.tails});
    }
    if (end - begin == 1 && cubes_.empty()) cubes_.push_back(made(pass_through, begin, end, {}, 0, features));
    const std::int32_t cell = grow({TranslationCell::phrase, begin, end}, pop_limit);
    phrase(begin, end) = cell;
    if (cell != not_found) add_gap(Dotted{}, cell, dotted(begin, end));
  }

  struct Known {
    std::int32_t node, first, n;
  };
  // The uses of the rules of a node, best first.
  template <class Features>
  Known options_of(const Dotted& item, std::int32_t first, std::int32_t last, std::int32_t begin, std::int32_t end,
                   const Features& features) {
    auto& options = states_.options();
    const auto start = static_cast<std::int32_t>(options.size());
    for (std::int32_t rule = first; rule < last; ++rule) {
      const auto target = setup_->table.target(rule);
      if (!states_.allows(target) || !features.is_allowed(item.node, rule)) continue;
      RuleOption option{{rule, item.node, begin, end, item.gap_first, item.gap_last, 0}, target, 0, 0};
      option.score = features.score(option.use);
      option.bound = option.score + states_.language_weight() * states_.expected(target);
      options.push_back(option);
    }
    std::sort(options.begin() + start, options.end(), [](const RuleOption& a, const RuleOption& b) {
      return a.bound != b.bound ? a.bound > b.bound : a.use.rule < b.use.rule;
    });
    if (prunes_ && setup_->most_options > 0 && static_cast<std::int32_t>(options.size()) - start > setup_->most_options)
      options.resize(static_cast<std::size_t>(start + setup_->most_options));
    return {item.node, start, static_cast<std::int32_t>(options.size()) - start};
  }
  // The cube of a rule that is in no table.
  template <class Features>
  Cube made(MadeRule rule, std::int32_t begin, std::int32_t end, std::array<std::int32_t, most_tails> tails,
            std::int32_t n_tails, const Features& features) {
    static constexpr std::int32_t both[] = {-1, -2};
    RuleOption option{{rule, 0, begin, end, false, false, 0}, {both, static_cast<std::size_t>(n_tails)}, 0, 0};
    if (rule == pass_through) option.target = {&passing_[static_cast<std::size_t>(begin)], 1};
    option.score = features.score(option.use);
    option.bound = option.score;
    if (!states_.allows(option.target)) return {};
    states_.options().push_back(option);
    return {static_cast<std::int32_t>(states_.options().size()) - 1, 1, n_tails, tails};
  }

  // The number of the cell made of cubes_, or not_found where it would have no node.
  std::int32_t grow(const TranslationCell& cell, std::int64_t pop_limit) {
    if (cubes_.empty()) return not_found;
    grown_.grow(states_, cubes_, pop_limit);
    cells_.push_back(cell);
    return grown_.cell(grown_.n_cells() - 1).empty() ? not_found : grown_.n_cells() - 1;
  }

  static constexpr bool prunes_ = std::is_same_v<States, LanguageStates>;
  const TranslationSetup* setup_;
  States states_;
  Grown grown_;
  std::vector<TranslationCell> cells_;
  std::int32_t width_ = 1;
  std::vector<std::vector<Dotted>> dotted_;  // [begin * width + end]
  std::vector<std::int32_t> phrases_;        // [begin * width + end]
  std::vector<std::int32_t> passing_;        // the target word of each source word that passes through
  std::vector<Cube> cubes_;
  std::vector<Known> known_;
};

}  // namespace margent
