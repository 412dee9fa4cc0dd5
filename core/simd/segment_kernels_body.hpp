// The bodies of the kernels of segment_kernels.hpp; included by kernels_body.hpp.
#include "simd/segment_kernels.hpp"

namespace margent {
namespace MARGENT_ISA {

template <int NV, bool HAS_ROWS>
MARGENT_INLINE void best_block(int count, const double* reached, const double* durations, const double* rows,
                               std::ptrdiff_t row_stride, int width, double* out) {
  constexpr int w = W<double>;
  Vec<double, w> best[NV];
  const auto score = [&](int v) {
    const Vec<double, w> x = load<double, w>(reached + v * w) + load<double, w>(durations + v * w);
    if constexpr (HAS_ROWS)
      return x + load<double, w>(rows + v * w);
    else
      return x;
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

void segment_best(int count, const std::int32_t* longest, const double* reached, const double* durations,
                  const double* rows, std::ptrdiff_t row_stride, int width, double* out) {
  constexpr int vectors = lane_count / W<double>;
  for (int j = 0; j < width; j += lane_count) {
    const int most = count < longest[j / lane_count] ? count : longest[j / lane_count];
    if (rows)
      best_block<vectors, true>(most, reached + j, durations + j, rows + j, row_stride, width, out + j);
    else
      best_block<vectors, false>(most, reached + j, durations + j, nullptr, row_stride, width, out + j);
  }
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
  constexpr int rows = 6;
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

void binned_rows(int count, const std::int32_t* longest, int end, int bins, int width, const double* sums,
                 const double* factors, std::ptrdiff_t row_stride, double* rows) {
  constexpr int w = W<double>, vectors = lane_count / w;
  const std::ptrdiff_t step = static_cast<std::ptrdiff_t>(bins + 1) * width;
  const double* last = sums + end * step + static_cast<std::ptrdiff_t>(bins) * width;
  const Vec<double, w> minus = broadcast<double, w>(-1.0);
  for (int d = 1; d <= count; ++d, rows += row_stride) {
    const int begin = end - d;
    const double* first = sums + begin * step;
    const Vec<double, w> factor = broadcast<double, w>(factors[d]);
    for (int j = 0; j < width; j += lane_count) {
      if (d > longest[j / lane_count]) continue;
      Vec<double, w> sum[vectors];
      for (int v = 0; v < vectors; ++v)
        sum[v] = load<double, w>(last + j + v * w) + minus * load<double, w>(first + j + v * w);
      for (int k = 1; k < bins; ++k) {
        const int whole = d * k / bins, rest = d * k - whole * bins;
        const double* low = sums + (begin + whole) * step + static_cast<std::ptrdiff_t>(k) * width + j;
        const double* high = rest ? low + step : low;  // a boundary between two frames, or at one of them
        const double part = static_cast<double>(rest) / bins;
        const Vec<double, w> a = broadcast<double, w>(1 - part), b = broadcast<double, w>(part);
        for (int v = 0; v < vectors; ++v)
          sum[v] = sum[v] + (a * load<double, w>(low + v * w) + b * load<double, w>(high + v * w));
      }
      for (int v = 0; v < vectors; ++v) store(rows + j + v * w, factor * sum[v]);
    }
  }
}

extern const SegmentKernels segments;
const SegmentKernels segments{segment_best, multiply, binned_rows};

}  // namespace MARGENT_ISA
}  // namespace margent
