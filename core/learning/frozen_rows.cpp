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

std::size_t FrozenRows::words_of(std::size_t n) const {
  return 1 + (is_dense(n) ? static_cast<std::size_t>(n_columns_) : (n + four - 1) / four * (four / 2 + four));
}

FrozenRows::FrozenRows(std::int32_t n_columns, std::span<const std::uint64_t> keys,
                       std::span<const std::int64_t> row_ptr, std::span<const std::int32_t> columns,
                       std::span<const float> weights)
    : n_columns_(n_columns), size_(static_cast<std::int64_t>(keys.size())), keys_(keys.begin(), keys.end()) {
  std::size_t capacity = 1024, total = 0;
  while (capacity < 2 * keys.size()) capacity *= 2;
  for (std::size_t r = 0; r < keys.size(); ++r) total += words_of(row_ptr[r + 1] - row_ptr[r]);
  if (n_columns > most_columns || total >= 0x7FFFFFFF) throw std::length_error("too many weights for one table");
  slots_.grow(capacity);
  words_.grow(total);
  mask_ = capacity - 1;
  std::size_t place = 0;
  for (std::size_t r = 0; r < keys.size(); ++r) {
    check_interruption(1 << 6);
    std::size_t q = keys[r] & mask_;
    while (slots_[q].place != 0) q = (q + 1) & mask_;
    slots_[q] = {static_cast<std::uint32_t>(keys[r] >> 32), static_cast<std::uint32_t>(place) + 1};
    const std::size_t n = row_ptr[r + 1] - row_ptr[r];
    const bool dense = is_dense(n);
    std::uint32_t* at = &words_[place];
    const std::size_t n_fours = (n + four - 1) / four;
    *at++ = dense ? all_columns : static_cast<std::uint32_t>(n_fours);
    std::uint32_t* to = dense ? at : at + four / 2 * n_fours;
    for (std::size_t i = 0; i < n; ++i) {  // what fills the last four is column 0 with weight 0, as the memory is
      const std::size_t e = row_ptr[r] + i;
      if (!dense) set_column(at, static_cast<std::uint32_t>(i), columns[e]);
      to[dense ? static_cast<std::size_t>(columns[e]) : i] = std::bit_cast<std::uint32_t>(weights[e]);
    }
    place += words_of(n);
  }
}

RowArrays FrozenRows::arrays() const {
  RowArrays out;
  const std::uint32_t* at = words_.data();
  for (const std::uint64_t key : keys_) {
    const bool dense = *at == all_columns;
    const std::uint32_t n = dense ? static_cast<std::uint32_t>(n_columns_) : four * *at;
    const std::uint32_t *columns = ++at, *weights = dense ? at : at + n / 2;
    for (std::uint32_t i = 0; i < n; ++i) {
      const float weight = std::bit_cast<float>(weights[i]);
      if (weight == 0) continue;
      out.columns.push_back(static_cast<std::int32_t>(dense ? i : column(columns, i)));
      out.weights.push_back(weight);
    }
    out.keys.push_back(key);
    out.row_ptr.push_back(static_cast<std::int64_t>(out.columns.size()));
    at = weights + n;
  }
  return out;
}

}  // namespace margent
