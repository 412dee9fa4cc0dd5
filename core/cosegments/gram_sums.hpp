// All inner products of a few sparse vectors that have much in common, without sorting or even writing them down.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "interruption.hpp"

namespace margent {

// The vectors are given in parts: a part is a list of entries that are added to each vector of a list of members. A
// hash table holds, for each index seen, what each vector has there. Cost: one lookup for each entry of a part, however
// many members it has, a square of the members for each part and a multiple of m where indices meet again.
class GramSums {
 public:
  // Begins anew with m vectors, all zero.
  void reset(std::size_t m) {
    m_ = m;
    gram_.assign(m * m, 0);
    indices_.clear();
    rows_.clear();
    slots_.assign(smallest_table, free_slot);
  }

  // entries(visit) calls visit(index, value) for each entry; an index may come more than once.
  template <class Entries>
  void add(std::span<const std::size_t> members, Entries entries) {
    double squares = 0;
    entries([&](std::int64_t index, double value) {
      squares += value * value;
      const std::size_t known = indices_.size(), place = place_of(index);
      double* row = rows_.data() + place * m_;
      check_interruption(static_cast<std::int64_t>(2 * members.size() * (place < known ? m_ : 1)));
      // (v + x)(v + x)' = vv' + xv' + vx' + xx'. The last is the same at every index; v is zero at new ones.
      if (place < known)
        for (const std::size_t a : members)
          for (std::size_t b = 0; b < m_; ++b) {
            gram_[a * m_ + b] += value * row[b];
            gram_[b * m_ + a] += value * row[b];
          }
      for (const std::size_t a : members) row[a] += value;
    });
    for (const std::size_t a : members)
      for (const std::size_t b : members) gram_[a * m_ + b] += squares;
  }

  // Adds to the products of each of `members` with each of `others`: what the caller knows of two different parts, or,
  // once, of one part with itself.
  void add(std::span<const std::size_t> members, std::span<const std::size_t> others, double product) {
    const bool itself = members.data() == others.data();
    check_interruption(static_cast<std::int64_t>(2 * members.size() * others.size()));
    for (const std::size_t a : members)
      for (const std::size_t b : others) {
        gram_[a * m_ + b] += product;
        if (!itself) gram_[b * m_ + a] += product;
      }
  }

  double at(std::size_t i, std::size_t j) const { return gram_[i * m_ + j]; }

 private:
  static constexpr std::size_t smallest_table = 256;
  static constexpr std::int32_t free_slot = -1;

  // Multiplying by 2^64 / golden ratio spreads neighbours.
  std::size_t slot_of(std::int64_t index) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = static_cast<std::size_t>((static_cast<std::uint64_t>(index) * 0x9E3779B97F4A7C15u) >> 32) & mask;
    while (slots_[i] != free_slot && indices_[static_cast<std::size_t>(slots_[i])] != index) i = (i + 1) & mask;
    return i;
  }

  // The number of an index, made if it is new.
  std::size_t place_of(std::int64_t index) {
    std::size_t slot = slot_of(index);
    if (slots_[slot] != free_slot) return static_cast<std::size_t>(slots_[slot]);
    if (2 * indices_.size() >= slots_.size()) {
      slots_.assign(4 * slots_.size(), free_slot);
      for (std::size_t i = 0; i < indices_.size(); ++i) slots_[slot_of(indices_[i])] = static_cast<std::int32_t>(i);
      slot = slot_of(index);
    }
    slots_[slot] = static_cast<std::int32_t>(indices_.size());
    indices_.push_back(index);
    rows_.resize(rows_.size() + m_, 0);
    return indices_.size() - 1;
  }

  std::size_t m_ = 0;
  std::vector<double> gram_;           // [m][m]
  std::vector<std::int32_t> slots_;    // the table: numbers of indices
  std::vector<std::int64_t> indices_;  // in order of arrival
  std::vector<double> rows_;           // [indices][m]: what each vector has there
};

}  // namespace margent
