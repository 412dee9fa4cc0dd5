// Growing weights to plain arrays and back: for the frozen model, for its file, and for going on with training.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "chain/rows.hpp"

namespace margent {

// The value of a weight: as it stands, or its average over all steps of the clock.
inline float exported(float weight, float sum, const Clock& clock, bool average) {
  return static_cast<float>(clock.weight(weight, sum, average));
}

inline Buffer<float> exported(const float* weights, const float* sums, std::size_t n, const Clock& clock,
                              bool average) {
  Buffer<float> out;
  out.need(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = exported(weights[i], sums ? sums[i] : 0.0f, clock, average);
  return out;
}

// Sparse rows in compressed form, columns in ascending order, zeros left out.
struct CompressedRows {
  std::vector<std::int64_t> ptr{0};
  std::vector<std::int32_t> columns;
  std::vector<float> weights;
};

inline CompressedRows exported(const SparseRows& rows, const Clock& clock, bool average) {
  CompressedRows out;
  std::vector<SparseRows::Entry> sorted;
  for (std::int64_t r = 0; r < rows.n_rows(); ++r) {
    sorted.assign(rows.entries(r), rows.entries(r) + rows.size(r));
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.column < b.column; });
    for (const SparseRows::Entry& e : sorted) {
      const float w = exported(e.weight, e.sum, clock, average);
      if (w == 0) continue;
      out.columns.push_back(e.column);
      out.weights.push_back(w);
    }
    out.ptr.push_back(static_cast<std::int64_t>(out.columns.size()));
  }
  return out;
}

}  // namespace margent
