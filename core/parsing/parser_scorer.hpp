// Scores of all actions in the configurations of a beam: many lookups at once, and what several of them share once.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "parsing/parser_templates.hpp"
#include "text/strings.hpp"

namespace margent {

// Table: HashedRows in training, FrozenRows afterwards. The keys of all features of a beam are made and prefetched
// first, then their rows are found and prefetched, and then added up. What templates of one or two words score (of 72
// of Zhang and Nivre some 20) is kept for the sentence, as the same two words meet in many states.
template <class Table>
class ParserScorer {
 public:
  explicit ParserScorer(const ParserTemplates& templates)
      : templates_(templates), values_(templates.n_terms()), mixed_(templates.n_terms()) {}

  // Scores are about this sentence, by these weights, from now on.
  void begin(const std::int32_t* atoms, std::int32_t n_atoms, std::int32_t n_words, const Table& table) {
    atoms_ = atoms;
    n_atoms_ = n_atoms;
    n_words_ = n_words;
    table_ = &table;
    width_ = (static_cast<std::size_t>(table.n_columns()) + 7) / 8 * 8;
    forget();
  }

  // configuration(i) for i < n; row i of the result, `width` floats long, has what each action scores.
  template <class Get>
  void score(std::size_t n, const WordNodes& nodes, Get configuration) {
    if (shared_.size() > most_shared * width_) forget();
    out_.assign(n * width_, 0.0f);
    lookups_.clear();
    uses_.clear();
    for (std::size_t i = 0; i < n; ++i) {
      ParserTemplates::Words words;
      see(configuration(i), nodes, words);
      for (std::size_t g = 0; g < templates_.word_groups().size(); ++g) use_group(g, words, i);
      for (const std::int32_t t : templates_.other_templates()) want(t, static_cast<std::int64_t>(i * width_));
    }
    std::size_t found = 0;
    for (const Lookup& lookup : lookups_) {
      const std::int32_t row = table_->find(lookup.key);
      if (row != Table::missing) rows_[found++] = {row, lookup.target};
    }
    for (std::size_t k = 0; k < found; ++k) {
      const std::int64_t target = rows_[k].target;
      table_->add(rows_[k].row, target >= 0 ? &out_[target] : &shared_[~target]);
    }
    for (const auto& [item, place] : uses_) {
      float* out = &out_[item * width_];
      const float* add = &shared_[place];
      for (std::size_t a = 0; a < width_; ++a) out[a] += add[a];
    }
  }
  const float* scores(std::size_t i) const { return &out_[i * width_]; }

  // Calls visit(template, key) for the features of a configuration.
  template <class Visit>
  void features(const Configuration& c, const WordNodes& nodes, Visit visit) {
    ParserTemplates::Words words;
    see(c, nodes, words);
    for (std::size_t t = 0; t < templates_.size(); ++t)
      if (const std::uint64_t key = templates_.key(t, mixed_.data())) visit(t, key);
  }
  std::span<const std::uint64_t> values() const { return values_; }
  const ParserTemplates& templates() const { return templates_; }

 private:
  static constexpr std::size_t most_shared = 4096;  // rows of scores
  struct Lookup {
    std::uint64_t key;
    std::int64_t target;  // ~place among shared scores
  };
  struct Found {
    std::int32_t row;
    std::int64_t target;
  };
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t generation = 0, place = 0;
  };

  void see(const Configuration& c, const WordNodes& nodes, ParserTemplates::Words& words) {
    templates_.see(c, nodes, atoms_, n_atoms_, n_words_, values_.data(), words);
    templates_.mix_values(values_.data(), mixed_.data());
  }
  void forget() {
    shared_.clear();
    slots_.resize(4 * most_shared);
    ++generation_;  // what is older counts as empty
    n_shared_ = 0;
  }
  void want(std::int32_t t, std::int64_t target) {
    const std::uint64_t key = templates_.key(t, mixed_.data());
    if (key == 0) return;
    table_->prefetch(key);
    lookups_.push_back({key, target});
    if (rows_.size() < lookups_.size()) rows_.resize(2 * lookups_.size());
  }
  // What the templates of a group score: known, or looked up now.
  void use_group(std::size_t g, const ParserTemplates::Words& words, std::size_t item) {
    const ParserTemplates::WordGroup& group = templates_.word_groups()[g];
    const std::int32_t first = words[group.first], second = group.second < 0 ? 0 : words[group.second];
    if (first < 0 || second < 0) return;
    const std::uint64_t key = static_cast<std::uint64_t>(g + 1) << 56 | static_cast<std::uint64_t>(first) << 28 |
                              static_cast<std::uint64_t>(second);
    const std::size_t mask = slots_.size() - 1;
    std::size_t q = mix(key) & mask;
    while (slots_[q].generation == generation_ && slots_[q].key != key) q = (q + 1) & mask;
    if (slots_[q].generation != generation_) {
      if (2 * (n_shared_ + 1) > slots_.size()) {  // within one call, so that nothing known can be forgotten
        for (const std::int32_t t : group.templates) want(t, static_cast<std::int64_t>(item * width_));
        return;
      }
      ++n_shared_;
      slots_[q] = {key, generation_, static_cast<std::uint32_t>(shared_.size())};
      shared_.resize(shared_.size() + width_, 0.0f);
      for (const std::int32_t t : group.templates) want(t, ~static_cast<std::int64_t>(slots_[q].place));
    }
    uses_.push_back({item, slots_[q].place});
  }

  const ParserTemplates& templates_;
  const std::int32_t* atoms_ = nullptr;
  std::int32_t n_atoms_ = 0, n_words_ = 0;
  const Table* table_ = nullptr;
  std::size_t width_ = 0;
  std::vector<std::uint64_t> values_, mixed_;
  std::vector<Lookup> lookups_;
  std::vector<Found> rows_;
  std::vector<std::pair<std::size_t, std::size_t>> uses_;
  std::vector<float> out_, shared_;
  std::vector<Slot> slots_;
  std::size_t n_shared_ = 0;
  std::uint32_t generation_ = 0;
};

}  // namespace margent
