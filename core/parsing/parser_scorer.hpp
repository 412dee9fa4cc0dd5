// Scores of all actions in the configurations of a beam: many lookups at once, and what several of them share once.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "parsing/parser_templates.hpp"
#include "simd/kernels.hpp"
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
    width_ = table.width();
    forget();
  }

  // configuration(i) for i < n; row i of the result, `width` floats long, has what each action scores.
  template <class Get>
  void score(std::size_t n, const WordNodes& nodes, Get configuration) {
    if (n_shared_ > most_shared) forget();
    const std::size_t first_new = n_shared_;
    wanted_.clear();
    wanted_shared_.clear();
    uses_.clear();
    for (std::size_t i = 0; i < n; ++i) {
      ParserTemplates::Words words;
      see(configuration(i), nodes, words);
      for (std::size_t g = 0; g < templates_.word_groups().size(); ++g) use_group(g, words);
      uses_.close();
      want(templates_.other_templates(), wanted_);
    }
    out_.resize(n * width_);
    used_.resize(n * width_);
    if (shared_.size() < n_shared_ * width_) shared_.resize(2 * n_shared_ * width_);
    add_up(wanted_shared_, shared_.data() + first_new * width_);
    add_up(wanted_, out_.data());
    gather(shared_.data(), uses_, used_.data());
    for (std::size_t a = 0; a < n * width_; ++a) out_[a] += used_[a];
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
  static constexpr std::size_t most_shared = 4096;  // sums, before they are forgotten
  static constexpr bool has_whole_rows = requires(const Table& table) { table.whole_rows(); };

  // Lists of things to be added up, one after the other: of a configuration, or of a group with its words.
  template <class T>
  struct Lists {
    std::vector<T> items;
    std::vector<std::int64_t> ptr{0};
    void clear() {
      items.clear();
      ptr.assign(1, 0);
    }
    void close() { ptr.push_back(static_cast<std::int64_t>(items.size())); }
    std::int64_t size() const { return static_cast<std::int64_t>(ptr.size()) - 1; }
  };
  struct Found {
    std::int32_t row;
    std::int32_t list;
  };
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t generation = 0;
    std::int32_t place = 0;
  };

  void see(const Configuration& c, const WordNodes& nodes, ParserTemplates::Words& words) {
    templates_.see(c, nodes, atoms_, n_atoms_, n_words_, values_.data(), words);
    templates_.mix_values(values_.data(), mixed_.data());
  }
  void forget() {
    if (slots_.empty()) slots_.resize(4 * most_shared);
    ++generation_;  // what is older counts as empty
    n_shared_ = 0;
  }
  // The features of these templates, as one more list.
  void want(std::span<const std::int32_t> templates, Lists<std::uint64_t>& wanted) {
    const std::size_t before = wanted.items.size();
    wanted.items.resize(before + templates.size());
    std::uint64_t* next = wanted.items.data() + before;
    for (const std::int32_t t : templates) {
      *next = templates_.key(static_cast<std::size_t>(t), mixed_.data());
      table_->prefetch(*next);
      next += *next != 0;
    }
    wanted.items.resize(static_cast<std::size_t>(next - wanted.items.data()));
    wanted.close();
  }
  // What the templates of a group score: known, or looked up now.
  void use_group(std::size_t g, const ParserTemplates::Words& words) {
    const ParserTemplates::WordGroup& group = templates_.word_groups()[g];
    const std::int32_t first = words[group.first], second = group.second < 0 ? 0 : words[group.second];
    if (first < 0 || second < 0) return;
    const std::uint64_t key = static_cast<std::uint64_t>(g + 1) << 56 | static_cast<std::uint64_t>(first) << 28 |
                              static_cast<std::uint64_t>(second);
    Slot* slot = &slot_of(key);
    if (slot->generation != generation_) {
      if (2 * (n_shared_ + 1) > slots_.size()) {
        grow();
        slot = &slot_of(key);
      }
      *slot = {key, generation_, static_cast<std::int32_t>(n_shared_++)};
      want(group.templates, wanted_shared_);
    }
    uses_.items.push_back(slot->place);
  }
  // Where the sum with this key is kept, or the empty slot where it belongs.
  Slot& slot_of(std::uint64_t key) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t q = mix(key) & mask;
    while (slots_[q].generation == generation_ && slots_[q].key != key) q = (q + 1) & mask;
    return slots_[q];
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.generation == generation_) slot_of(slot.key) = slot;
  }

  // sums[l * width + c] = the sum of column c over the rows of list l. Whether a feature is there, and how its row is
  // stored, nobody can foresee: no branch depends on it.
  void add_up(const Lists<std::uint64_t>& wanted, float* sums) {
    if (rows_.size() < wanted.items.size()) rows_.resize(2 * wanted.items.size());
    std::size_t found = 0;
    if constexpr (has_whole_rows) {
      whole_.clear();
      whole_.items.resize(wanted.items.size());
      std::int64_t n_whole = 0;
      for (std::int64_t l = 0; l < wanted.size(); ++l) {
        for (std::int64_t k = wanted.ptr[l]; k < wanted.ptr[l + 1]; ++k) {
          const std::int32_t row = table_->find(wanted.items[k]);
          whole_.items[n_whole] = Table::whole_number(row);
          n_whole += Table::is_whole(row);
          rows_[found] = {row, static_cast<std::int32_t>(l)};
          found += row > Table::missing;
        }
        whole_.ptr.push_back(n_whole);
      }
      gather(table_->whole_rows(), whole_, sums);
    } else {
      std::fill_n(sums, static_cast<std::size_t>(wanted.size()) * width_, 0.0f);
      for (std::int64_t l = 0; l < wanted.size(); ++l)
        for (std::int64_t k = wanted.ptr[l]; k < wanted.ptr[l + 1]; ++k) {
          const std::int32_t row = table_->find(wanted.items[k]);
          rows_[found] = {row, static_cast<std::int32_t>(l)};
          found += row != Table::missing;
        }
    }
    for (std::size_t k = 0; k < found; ++k)
      table_->add(rows_[k].row, sums + static_cast<std::size_t>(rows_[k].list) * width_);
  }
  void gather(const float* matrix, const Lists<std::int32_t>& rows, float* sums) const {
    kernels<float>().gather(matrix, static_cast<int>(width_), rows.items.data(), nullptr, rows.ptr.data(), 0,
                            rows.size(), rows.size(), sums);
  }

  const ParserTemplates& templates_;
  const std::int32_t* atoms_ = nullptr;
  std::int32_t n_atoms_ = 0, n_words_ = 0;
  const Table* table_ = nullptr;
  std::size_t width_ = 0;
  std::vector<std::uint64_t> values_, mixed_;
  Lists<std::uint64_t> wanted_, wanted_shared_;  // keys of configurations, and of sums that are new
  Lists<std::int32_t> uses_, whole_;             // sums of configurations, and whole rows of either
  std::vector<Found> rows_;
  std::vector<float> out_, used_;
  std::vector<float> shared_;  // sums of groups with their words
  std::vector<Slot> slots_;
  std::size_t n_shared_ = 0;
  std::uint32_t generation_ = 0;
};

}  // namespace margent
