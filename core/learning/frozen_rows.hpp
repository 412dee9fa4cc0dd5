// Learned rows of features, frozen: one table to look up from, made for many lookups at once.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "learning/clock.hpp"
#include "learning/hashed_rows.hpp"
#include "simd/buffer.hpp"
#include "simd/kernels.hpp"
#include "simd/simd.hpp"

namespace margent {

// Rows as arrays, which is how they are stored: row r is the feature keys[r], with the weights of the columns
// columns[row_ptr[r]], ..., columns[row_ptr[r + 1] - 1].
struct RowArrays {
  std::vector<std::uint64_t> keys;
  std::vector<std::int64_t> row_ptr{0};
  std::vector<std::int32_t> columns;
  std::vector<float> weights;
};

// The weights of rows in training as they are, or their averages; what is 0 is left out.
RowArrays exported(const HashedRows& rows, const Clock& clock, bool average);

// Open addressing, at most half full. A slot has the upper half of a key and where its row lies. A row is as short as
// it can be, since what costs is to fetch it: the columns of its weights in 16 bits each, and the weights, by fours, so
// that as a rule one step adds all of them. Where these are many, it is whole: the weights of all columns, in a matrix
// of such rows, of which many are added at once (Kernels::gather). A feature that is not there is taken for one that is
// with a probability of about 2^-32 for each slot that is looked at.
class FrozenRows {
 public:
  // Keys are different and not 0, offsets rise, columns are below n_columns and different within a row, weights finite.
  // There are at most `most_columns`.
  static constexpr std::int32_t most_columns = (1 << 16) - lane_count;
  FrozenRows(std::int32_t n_columns, std::span<const std::uint64_t> keys, std::span<const std::int64_t> row_ptr,
             std::span<const std::int32_t> columns, std::span<const float> weights);

  std::int32_t n_columns() const { return n_columns_; }
  std::int64_t size() const { return static_cast<std::int64_t>(keys_.size()); }
  RowArrays arrays() const;

  // A row is a number: one that is not whole is 0 or more.
  static constexpr std::int32_t missing = -1;
  static bool is_whole(std::int32_t row) { return row < missing; }
  void prefetch(std::uint64_t key) const { MARGENT_PREFETCH(&slots_[key & mask_]); }
  std::int32_t find(std::uint64_t key) const {
    const auto tag = static_cast<std::uint32_t>(key >> 32);
    for (std::size_t q = key & mask_;; q = (q + 1) & mask_) {
      const Slot slot = slots_[q];
      const std::int32_t row = ~slot.row_inverted;
      if (row == missing) return missing;
      if (slot.tag != tag) continue;
      const void* at = is_whole(row) ? static_cast<const void*>(whole_row(row)) : words_.data() + row;
      MARGENT_PREFETCH(at);
      MARGENT_PREFETCH(static_cast<const char*>(at) + line);  // many rows begin in one line and end in the next
      return row;
    }
  }
  // Whole rows are `width` floats long and follow each other from `whole_rows` on. Unless there is only one column,
  // this is what the kernels want, with room behind the columns for sums that nobody asks for.
  std::size_t width() const { return width_; }
  const float* whole_rows() const { return whole_.data(); }
  static std::int32_t whole_number(std::int32_t row) { return missing - 1 - row; }
  // out[c] += the weight of column c; `out` has `width` numbers.
  void add(std::int32_t row, float* out) const {
    if (is_whole(row)) {
      const float* weights = whole_row(row);
      for (std::int32_t c = 0; c < n_columns_; ++c) out[c] += weights[c];
      return;
    }
    const std::uint32_t* at = &words_[row];
    const std::uint32_t n = *at++;  // fours
    const std::uint32_t* weights = at + four / 2 * n;
    for (std::uint32_t i = 0; i < n; ++i, at += four / 2, weights += four)
      for (std::uint32_t j = 0; j < four; ++j) out[column(at, j)] += std::bit_cast<float>(weights[j]);
  }

 private:
  static constexpr std::size_t line = 64;  // bytes in a line of the cache
  static constexpr std::uint32_t four = 4;
  struct Slot {
    std::uint32_t tag;
    std::int32_t row_inverted;  // ~row, so that 0 is an empty slot
  };
  const float* whole_row(std::int32_t row) const { return whole_.data() + whole_number(row) * width_; }
  static std::uint32_t column(const std::uint32_t* columns, std::size_t i) {
    std::uint16_t found;
    std::memcpy(&found, reinterpret_cast<const char*>(columns) + sizeof found * i, sizeof found);
    return found;
  }
  static void set_column(std::uint32_t* columns, std::size_t i, std::int32_t column) {
    const auto given = static_cast<std::uint16_t>(column);
    std::memcpy(reinterpret_cast<char*>(columns) + sizeof given * i, &given, sizeof given);
  }
  // A row with more than an eighth of the columns is added faster with all of them.
  bool would_be_whole(std::size_t n) const { return 8 * n > static_cast<std::size_t>(n_columns_); }
  static std::size_t fours_of(std::size_t n) { return (n + four - 1) / four; }
  static std::size_t words_of(std::size_t n) { return 1 + (four / 2 + four) * fours_of(n); }
  void fill(std::uint32_t* at, std::span<const std::int32_t> columns, std::span<const float> weights,
            std::size_t salt) const;

  std::int32_t n_columns_;
  std::size_t mask_ = 0, width_;
  Buffer<Slot> slots_;
  Buffer<std::uint32_t> words_;
  Buffer<float> whole_;
  std::vector<std::uint64_t> keys_;  // in the order in which they were given
  std::vector<std::int32_t> rows_;
};

}  // namespace margent
