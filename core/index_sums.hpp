// Sums by index, for inner products of sparse vectors that nobody has sorted: a hash table that is emptied at once.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace margent {

class IndexSums {
 public:
  // Empties the table; up to n different indices may follow.
  void reset(std::size_t n) {
    const std::size_t size = std::bit_ceil(2 * n + 2);
    if (size > slots_.size()) slots_.resize(size);
    shift_ = 64 - std::countr_zero(size);
    mask_ = size - 1;
    std::fill(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(size), Slot{});
  }
  // Adds to the sum of an index and returns what it was before.
  double add(std::int64_t index, double value) {
    Slot& slot = slots_[place(index)];
    const double before = slot.sum;
    slot = {index, before + value};
    return before;
  }
  double at(std::int64_t index) const { return slots_[place(index)].sum; }

 private:
  struct Slot {
    std::int64_t index = -1;
    double sum = 0;
  };
  // Where the index is, or the free place where it would be. Multiplying by 2^64 / golden ratio spreads neighbours.
  std::size_t place(std::int64_t index) const {
    std::size_t i = static_cast<std::size_t>((static_cast<std::uint64_t>(index) * 0x9E3779B97F4A7C15u) >> shift_);
    while (slots_[i].index != index && slots_[i].index != -1) i = (i + 1) & mask_;
    return i;
  }
  std::vector<Slot> slots_;
  int shift_ = 63;
  std::size_t mask_ = 0;
};

}  // namespace margent
