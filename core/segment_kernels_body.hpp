// The bodies of the kernels of segment_kernels.hpp; included by kernels_body.hpp.
#include "segment_kernels.hpp"

namespace margent {
namespace MARGENT_ISA {

template <int NV, bool HAS_ROWS>
MARGENT_INLINE void best_block(int count, const double* reached, const double* durations, const double* rows,
                               std::ptrdiff_t row_stride, int width, double* out) {
  constexpr int w = W<double>;
  Vec<double, w> best[NV];
  const auto score = [&](int v) {
    const Vec<double, w> x = load<double, w>(reached + v * w) + load<double, w>(durations + v * w);
    if constexpr (HAS_ROWS) return x + load<double, w>(rows + v * w);
    else return x;
  };
  const auto advance = [&] {
    reached -= width;
    durations += width;
  };
  advance();
  for (int v = 0; v < NV; ++v) best[v] = score(v);
  for (int d = 2; d <= count; ++d) {
    advance();
    if constexpr (HAS_ROWS) rows += row_stride;
    for (int v = 0; v < NV; ++v) best[v] = maximum(score(v), best[v]);
  }
  for (int v = 0; v < NV; ++v) store(out + v * w, best[v]);
}

template <bool HAS_ROWS>
MARGENT_INLINE void best_segments(int count, const double* reached, const double* durations, const double* rows,
                                  std::ptrdiff_t row_stride, int width, double* out) {
  constexpr int w = W<double>;
  int j = 0;
  for (; j + block * w <= width; j += block * w)
    best_block<block, HAS_ROWS>(count, reached + j, durations + j, HAS_ROWS ? rows + j : nullptr, row_stride, width,
                                out + j);
  for (; j < width; j += w)
    best_block<1, HAS_ROWS>(count, reached + j, durations + j, HAS_ROWS ? rows + j : nullptr, row_stride, width, out + j);
}

void segment_best(int count, const double* reached, const double* durations, const double* rows,
                  std::ptrdiff_t row_stride, int width, double* out) {
  if (rows) best_segments<true>(count, reached, durations, rows, row_stride, width, out);
  else best_segments<false>(count, reached, durations, rows, row_stride, width, out);
}

// ROWS rows of the left matrix with NV vectors of the right one: all sums are kept in registers.
template <int ROWS, int NV>
MARGENT_INLINE void multiply_block(int depth, int width, const float* left, const float* right, float* out) {
  constexpr int w = W<float>;
  Vec<float, w> sums[ROWS][NV];
  for (int r = 0; r < ROWS; ++r)
    for (int v = 0; v < NV; ++v) sums[r][v] = broadcast<float, w>(0.0f);
  for (int k = 0; k < depth; ++k) {
    Vec<float, w> row[NV];
    for (int v = 0; v < NV; ++v) row[v] = load<float, w>(right + static_cast<std::ptrdiff_t>(k) * width + v * w);
    for (int r = 0; r < ROWS; ++r) {
      const Vec<float, w> x = broadcast<float, w>(left[static_cast<std::ptrdiff_t>(r) * depth + k]);
      for (int v = 0; v < NV; ++v) sums[r][v] = sums[r][v] + x * row[v];
    }
  }
  for (int r = 0; r < ROWS; ++r)
    for (int v = 0; v < NV; ++v) store(out + static_cast<std::ptrdiff_t>(r) * width + v * w, sums[r][v]);
}

template <int NV>
MARGENT_INLINE void multiply_columns(int n, int depth, int width, const float* left, const float* right, float* out) {
  constexpr int rows = 4;
  int t = 0;
  for (; t + rows <= n; t += rows)
    multiply_block<rows, NV>(depth, width, left + static_cast<std::ptrdiff_t>(t) * depth, right,
                             out + static_cast<std::ptrdiff_t>(t) * width);
  for (; t < n; ++t)
    multiply_block<1, NV>(depth, width, left + static_cast<std::ptrdiff_t>(t) * depth, right,
                          out + static_cast<std::ptrdiff_t>(t) * width);
}

void multiply(int n, int depth, int width, const float* left, const float* right, float* out) {
  constexpr int w = W<float>, wide = 2;
  int j = 0;
  for (; j + wide * w <= width; j += wide * w) multiply_columns<wide>(n, depth, width, left, right + j, out + j);
  for (; j < width; j += w) multiply_columns<1>(n, depth, width, left, right + j, out + j);
}

void binned_rows(int count, int end, int bins, int width, const double* sums, const double* factors,
                 std::ptrdiff_t row_stride, double* rows) {
  constexpr int w = W<double>;
  const std::ptrdiff_t step = static_cast<std::ptrdiff_t>(bins + 1) * width;
  const double* last = sums + end * step + static_cast<std::ptrdiff_t>(bins) * width;
  for (int d = 1; d <= count; ++d, rows += row_stride) {
    const int begin = end - d;
    const double* first = sums + begin * step;
    const Vec<double, w> factor = broadcast<double, w>(factors[d]), minus = broadcast<double, w>(-1.0);
    if (bins == 1) {
      for (int j = 0; j < width; j += w)
        store(rows + j, factor * (load<double, w>(last + j) + minus * load<double, w>(first + j)));
      continue;
    }
    for (int j = 0; j < width; j += w)
      store(rows + j, load<double, w>(last + j) + minus * load<double, w>(first + j));
    for (int k = 1; k < bins; ++k) {
      const int whole = d * k / bins;
      const double part = static_cast<double>(d * k % bins) / bins;
      const double* low = sums + (begin + whole) * step + static_cast<std::ptrdiff_t>(k) * width;
      if (d * k % bins == 0) {
        for (int j = 0; j < width; j += w) store(rows + j, load<double, w>(rows + j) + load<double, w>(low + j));
        continue;
      }
      const double* high = low + step;
      const Vec<double, w> a = broadcast<double, w>(1 - part), b = broadcast<double, w>(part);
      for (int j = 0; j < width; j += w)
        store(rows + j, load<double, w>(rows + j) + (a * load<double, w>(low + j) + b * load<double, w>(high + j)));
    }
    for (int j = 0; j < width; j += w) store(rows + j, factor * load<double, w>(rows + j));
  }
}

extern const SegmentKernels segments;
const SegmentKernels segments{segment_best, multiply, binned_rows};

}  // namespace MARGENT_ISA
}  // namespace margent
