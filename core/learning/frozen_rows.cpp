#include "learning/frozen_rows.hpp"

#include <algorithm>
#include <stdexcept>

#include "interruption.hpp"

namespace margent {

RowArrays exported(const HashedRows& rows, const Clock& clock, bool average) {
  RowArrays out;
  for (std::int64_t row = 0; row < rows.size(); ++row) {
    const SparseRows::Entry* entries = rows.rows().entries(row);
    for (std::uint32_t i = 0; i < rows.rows().size(row); ++i) {
      const auto weight = static_cast<float>(clock.weight(entries[i].weight, entries[i].sum, average));
      if (weight == 0) continue;
      out.columns.push_back(entries[i].column);
      out.weights.push_back(weight);
    }
    if (static_cast<std::int64_t>(out.columns.size()) == out.row_ptr.back()) continue;
    out.keys.push_back(rows.key(row));
    out.row_ptr.push_back(static_cast<std::int64_t>(out.columns.size()));
  }
  return out;
}

FrozenRows::FrozenRows(std::int32_t n_columns, std::span<const std::uint64_t> keys,
                       std::span<const std::int64_t> row_ptr, std::span<const std::int32_t> columns,
                       std::span<const float> weights)
    : n_columns_(n_columns), width_(n_columns == 1 ? 1 : padded_width(n_columns + lane_count)),
      keys_(keys.begin(), keys.end()) {
  std::size_t capacity = 1024, n_words = 0, n_whole = 0;
  while (capacity < 2 * keys.size()) capacity *= 2;
  for (std::size_t r = 0; r < keys.size(); ++r) {
    const std::size_t n = row_ptr[r + 1] - row_ptr[r];
    if (would_be_whole(n))
      ++n_whole;
    else
      n_words += words_of(n);
  }
  constexpr std::size_t most = 0x7FFFFFFF;
  if (n_columns > most_columns || n_words >= most || n_whole >= most)
    throw std::length_error("too many weights for one table");
  slots_.grow(capacity);
  words_.grow(n_words);
  whole_.grow(n_whole * width_);
  mask_ = capacity - 1;
  rows_.reserve(keys.size());
  std::int32_t place = 0, whole = missing - 1;
  for (std::size_t r = 0; r < keys.size(); ++r) {
    check_interruption(1 << 6);
    const auto e = static_cast<std::size_t>(row_ptr[r]), n = static_cast<std::size_t>(row_ptr[r + 1]) - e;
    const bool is_short = !would_be_whole(n);
    rows_.push_back(is_short ? place : whole);
    std::size_t q = keys[r] & mask_;
    while (slots_[q].row_inverted != 0) q = (q + 1) & mask_;
    slots_[q] = {static_cast<std::uint32_t>(keys[r] >> 32), ~rows_.back()};
    if (is_short) {
      fill(&words_[place], columns.subspan(e, n), weights.subspan(e, n), r);
      place += static_cast<std::int32_t>(words_of(n));
    } else {
      float* row = &whole_[whole_number(whole) * width_];
      for (std::size_t i = 0; i < n; ++i) row[columns[e + i]] = weights[e + i];
      --whole;
    }
  }
}

void FrozenRows::fill(std::uint32_t* at, std::span<const std::int32_t> columns, std::span<const float> weights,
                      std::size_t salt) const {
  const std::size_t n = columns.size(), fours = fours_of(n);
  *at++ = static_cast<std::uint32_t>(fours);
  std::uint32_t* to = at + four / 2 * fours;
  for (std::size_t i = 0; i < n; ++i) {
    set_column(at, i, columns[i]);
    to[i] = std::bit_cast<std::uint32_t>(weights[i]);
  }
  // What fills the last four has weight 0 and is added behind all columns, each time elsewhere, as sums of one column
  // wait for each other.
  for (std::size_t i = n; i < four * fours; ++i)
    set_column(at, i, n_columns_ + static_cast<std::int32_t>((salt + i) % lane_count));
}

RowArrays FrozenRows::arrays() const {
  RowArrays out;
  const auto put = [&out](std::int32_t column, float weight) {
    if (weight == 0) return;
    out.columns.push_back(column);
    out.weights.push_back(weight);
  };
  for (std::size_t r = 0; r < keys_.size(); ++r) {
    if (is_whole(rows_[r])) {
      for (std::int32_t c = 0; c < n_columns_; ++c) put(c, whole_row(rows_[r])[c]);
    } else {
      const std::uint32_t* at = &words_[rows_[r]];
      const std::size_t fours = *at++;
      for (std::size_t i = 0; i < four * fours; ++i)
        put(static_cast<std::int32_t>(column(at, i)), std::bit_cast<float>(at[four / 2 * fours + i]));
    }
    out.keys.push_back(keys_[r]);
    out.row_ptr.push_back(static_cast<std::int64_t>(out.columns.size()));
  }
  return out;
}

}  // namespace margent
