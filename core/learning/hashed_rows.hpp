// Weights of features that are known by 64-bit keys: rows that come into being when something is learned in them.
#pragma once
#include <cstdint>
#include <vector>

#include "chain/rows.hpp"
#include "text/strings.hpp"

namespace margent {

// A row is the weights of one feature with some of n_columns actions or labels. Keys must be well mixed (KeyTable).
class HashedRows {
 public:
  explicit HashedRows(std::int32_t n_columns) : n_columns_(n_columns), rows_(0, n_columns) {}

  std::int32_t n_columns() const { return n_columns_; }
  std::size_t width() const { return static_cast<std::size_t>(padded_width(n_columns_)); }  // of sums of rows
  std::int64_t size() const { return rows_.n_rows(); }
  std::uint64_t key(std::int64_t row) const { return keys_[row]; }
  std::int32_t row(std::uint64_t key) {
    const std::int32_t row = table_.add(key);
    if (row == size()) {
      rows_.add_row();
      keys_.push_back(key);
    }
    return row;
  }
  SparseRows& rows() { return rows_; }
  const SparseRows& rows() const { return rows_; }

  // To look up many: all are prefetched, then found, and then added.
  static constexpr std::int32_t missing = not_found;
  void prefetch(std::uint64_t key) const { table_.prefetch(key); }
  std::int32_t find(std::uint64_t key) const {
    const std::int32_t row = table_.find(key);
    if (row != not_found) rows_.prefetch(row);
    return row;
  }
  void add(std::int32_t row, float* out) const {
    const SparseRows::Entry* entries = rows_.entries(row);
    const std::uint32_t n = rows_.size(row);
    for (std::uint32_t i = 0; i < n; ++i) out[entries[i].column] += entries[i].weight;
  }

 private:
  std::int32_t n_columns_;
  KeyTable table_;
  std::vector<std::uint64_t> keys_;
  SparseRows rows_;
};

// What a search sees of weights in a table: they are scale times what is there.
template <class Table>
struct TableWeights {
  Table* table = nullptr;
  double scale = 1;
};

}  // namespace margent
