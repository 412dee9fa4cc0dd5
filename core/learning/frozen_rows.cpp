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

// A row with more than a third of the columns is faster, and hardly larger, with all of them.
std::size_t FrozenRows::words_of(std::size_t n) const {
  const auto width = static_cast<std::size_t>(n_columns_);
  const std::size_t words = header + (3 * n > width ? width : 2 * n);
  return (words + alignment - 1) / alignment * alignment;
}

FrozenRows::FrozenRows(std::int32_t n_columns, std::span<const std::uint64_t> keys,
                       std::span<const std::int64_t> row_ptr, std::span<const std::int32_t> columns,
                       std::span<const float> weights)
    : n_columns_(n_columns), size_(static_cast<std::int64_t>(keys.size())) {
  std::size_t capacity = 1024, total = 0;
  while (capacity < 2 * keys.size()) capacity *= 2;
  for (std::size_t r = 0; r < keys.size(); ++r) total += words_of(row_ptr[r + 1] - row_ptr[r]);
  if (total / alignment >= 0x7FFFFFFF) throw std::length_error("too many weights for one table");
  slots_.grow(capacity);
  words_.grow(total);
  mask_ = capacity - 1;
  std::size_t place = 0;
  for (std::size_t r = 0; r < keys.size(); ++r) {
    check_interruption(1 << 6);
    std::size_t q = keys[r] & mask_;
    while (slots_[q].place != 0) q = (q + 1) & mask_;
    slots_[q] = {static_cast<std::uint32_t>(keys[r] >> 32), static_cast<std::uint32_t>(place / alignment) + 1};
    const std::size_t n = row_ptr[r + 1] - row_ptr[r];
    std::uint32_t* at = &words_[place];
    at[0] = static_cast<std::uint32_t>(keys[r]);
    at[1] = static_cast<std::uint32_t>(keys[r] >> 32);
    const bool dense = 3 * n > static_cast<std::size_t>(n_columns_);
    at[2] = dense ? all_columns : static_cast<std::uint32_t>(n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t e = row_ptr[r] + i;
      const auto weight = std::bit_cast<std::uint32_t>(weights[e]);
      if (dense) {
        at[header + columns[e]] = weight;
      } else {
        at[header + 2 * i] = static_cast<std::uint32_t>(columns[e]);
        at[header + 2 * i + 1] = weight;
      }
    }
    place += words_of(n);
  }
}

RowArrays FrozenRows::arrays() const {
  RowArrays out;
  for (std::size_t place = 0; place < words_.size();) {
    const std::uint32_t* at = &words_[place];
    const bool dense = at[2] == all_columns;
    const std::size_t before = out.columns.size();
    const std::size_t n = dense ? static_cast<std::size_t>(n_columns_) : at[2];
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t column = dense ? static_cast<std::uint32_t>(i) : at[header + 2 * i];
      const float weight = std::bit_cast<float>(at[header + (dense ? i : 2 * i + 1)]);
      if (weight == 0) continue;
      out.columns.push_back(static_cast<std::int32_t>(column));
      out.weights.push_back(weight);
    }
    out.keys.push_back(static_cast<std::uint64_t>(at[1]) << 32 | at[0]);
    out.row_ptr.push_back(static_cast<std::int64_t>(out.columns.size()));
    place += words_of(dense ? out.columns.size() - before : n);
  }
  return out;
}

}  // namespace margent
