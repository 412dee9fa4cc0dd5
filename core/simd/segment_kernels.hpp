// The inner loops of semi-Markov models, compiled once per instruction set. Rows are `width` numbers long, as in
// kernels.hpp; sums are made in the same order by both sets, so that they give the same numbers to the bit.
#pragma once
#include <cstddef>
#include <cstdint>

namespace margent {

struct SegmentKernels {
  // The step to one position: out[j] = max over d of reached[-d * width + j] + durations[d * width + j]
  // (+ rows[(d - 1) * row_stride + j], unless rows is null), for j < width and d = 1 .. the smaller one of count and
  // longest[j / 8]; both are at least 1.
  void (*best)(int count, const std::int32_t* longest, const double* reached, const double* durations,
               const double* rows, std::ptrdiff_t row_stride, int width, double* out);

  // out[t][j] = sum over k < depth of left[t][k] * right[k][j], for t < n and j < width, a multiple of 8.
  void (*multiply)(int n, int depth, int width, const float* left, const float* right, float* out);

  // Rows of binned means for one end: with d = 1 .. count, B = bins, and sums[t] = B + 1 rows of `width` numbers,
  // rows[(d - 1) * row_stride + j] = factors[d] * (sums[end][B][j] - sums[end - d][0][j]
  //                                               + sum over k = 1 .. B - 1 of sums[x][k][j] at x = end - d + d k / B),
  // where sums between two positions are interpolated; only those columns j with d <= longest[j / 8] are written.
  void (*binned_rows)(int count, const std::int32_t* longest, int end, int bins, int width, const double* sums,
                      const double* factors, std::ptrdiff_t row_stride, double* rows);
};

// The kernels for this machine.
const SegmentKernels& segment_kernels();

}  // namespace margent
