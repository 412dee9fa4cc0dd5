// The bodies of the kernels of sum_kernels.hpp; included by kernels_body.hpp.
#include <math.h>

#include "interruption.hpp"
#include "simd/sum_kernels.hpp"

namespace margent {
namespace MARGENT_ISA {

// e^x for x <= 0 to about one unit in the last place, 0 below -87: x = k ln 2 + f, e^f by a polynomial.
MARGENT_INLINE Vec<float, W<float>> exp_not_positive(Vec<float, W<float>> given) {
  constexpr int w = W<float>;
  const auto number = [](float x) { return broadcast<float, w>(x); };
  const Vec<float, w> bound = number(-87.0f), x = maximum(given, bound);
  const Vec<float, w> k = truncate(x * number(1.44269504f) + number(-0.5f));
  const Vec<float, w> f = (x + k * number(-0.693359375f)) + k * number(2.12194440e-4f);
  Vec<float, w> p = number(1.9875691500e-4f);
  p = p * f + number(1.3981999507e-3f);
  p = p * f + number(8.3334519073e-3f);
  p = p * f + number(4.1665795894e-2f);
  p = p * f + number(1.6666665459e-1f);
  p = p * f + number(5.0000001201e-1f);
  p = (p * f) * f + f + number(1.0f);
  return where_above(given, bound, p * power_of_two(k));
}

// The sum of a row, in the same order for every vector width.
MARGENT_INLINE float row_sum(int width, const float* row) {
  float part[lane_count] = {};
  for (int j = 0; j < width; j += lane_count)
    for (int q = 0; q < lane_count; ++q) part[q] += row[j + q];
  return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

// The sum over i < n of weights[i] * rows[i], NV vectors of columns.
template <int NV>
MARGENT_INLINE Block<float, NV> weighted_block(int n, const float* weights, const float* rows, int width) {
  constexpr int w = W<float>;
  Block<float, NV> even, odd;
  for (int v = 0; v < NV; ++v) even.part[v] = odd.part[v] = broadcast<float, w>(0.0f);
  int i = 0;
  for (; i + 1 < n; i += 2) {
    const Vec<float, w> a = broadcast<float, w>(weights[i]), b = broadcast<float, w>(weights[i + 1]);
    const float* r = rows + static_cast<std::ptrdiff_t>(i) * width;
    for (int v = 0; v < NV; ++v) {
      even.part[v] = even.part[v] + a * load<float, w>(r + v * w);
      odd.part[v] = odd.part[v] + b * load<float, w>(r + width + v * w);
    }
  }
  if (i < n) {
    const Vec<float, w> a = broadcast<float, w>(weights[i]);
    const float* r = rows + static_cast<std::ptrdiff_t>(i) * width;
    for (int v = 0; v < NV; ++v) even.part[v] = even.part[v] + a * load<float, w>(r + v * w);
  }
  for (int v = 0; v < NV; ++v) even.part[v] = even.part[v] + odd.part[v];
  return even;
}

// NV = 0 stands for widths that have no loop of their own.
template <int NV>
MARGENT_INLINE void weighted_rows(int n, const float* weights, const float* rows, int width, float* out) {
  constexpr int w = W<float>;
  if constexpr (NV > 0) {
    store_block(out, weighted_block<NV>(n, weights, rows, width));
  } else {
    int j = 0;
    for (; j + block * w <= width; j += block * w)
      store_block(out + j, weighted_block<block>(n, weights, rows + j, width));
    for (; j < width; j += w) store_block(out + j, weighted_block<1>(n, weights, rows + j, width));
  }
}

inline void exp_rows(int length, int n, int width, float* scores, float* tops) {
  constexpr int w = W<float>;
  for (int t = 0; t < length; ++t, scores += width) {
    for (int j = n; j < width; ++j) scores[j] = -HUGE_VALF;
    Vec<float, w> largest = load<float, w>(scores);
    for (int j = w; j < width; j += w) largest = maximum(largest, load<float, w>(scores + j));
    float top = lane(largest, 0);
    for (int q = 1; q < w; ++q) top = lane(largest, q) > top ? lane(largest, q) : top;
    tops[t] = top;
    const Vec<float, w> shift = broadcast<float, w>(-top);
    for (int j = 0; j < width; j += w) store(scores + j, exp_not_positive(load<float, w>(scores + j) + shift));
  }
}

template <int NV>
MARGENT_INLINE void forward_rows(int length, int n, int given_width, const ExpChain& chain, const float* emissions,
                                 float* alpha, float* norms) {
  constexpr int w = W<float>;
  const int width = NV > 0 ? NV * w : given_width;
  for (int t = 0; t < length; ++t, alpha += width, emissions += width) {
    if constexpr (NV == 0) check_interruption(static_cast<std::int64_t>(n) * width / w);
    if (t > 0) {
      weighted_rows<NV>(n, alpha - width, chain.transitions, width, alpha);
      for (int j = 0; j < width; ++j) alpha[j] *= emissions[j];
    } else {
      for (int j = 0; j < width; ++j) alpha[j] = chain.start[j] * emissions[j];
    }
    norms[t] = row_sum(width, alpha);
    const float inverse = 1.0f / norms[t];
    for (int j = 0; j < width; ++j) alpha[j] *= inverse;
  }
}

template <int NV>
MARGENT_INLINE float backward_rows(int length, int n, int given_width, const ExpChain& chain, const float* emissions,
                                   const float* norms, float total, float* beta) {
  constexpr int w = W<float>;
  const int width = NV > 0 ? NV * w : given_width;
  float largest = 0;
  const auto watch = [&](const float* row, float inverse) {
    float top[lane_count] = {};
    for (int j = 0; j < width; j += lane_count)
      for (int q = 0; q < lane_count; ++q) top[q] = row[j + q] > top[q] ? row[j + q] : top[q];
    for (int q = 0; q < lane_count; ++q) largest = top[q] * inverse > largest ? top[q] * inverse : largest;
  };
  float* weights = beta + static_cast<std::ptrdiff_t>(length) * width;
  float* row = weights - width;
  for (int j = 0; j < width; ++j) row[j] = chain.end[j] / total;
  watch(row, 1.0f / norms[length - 1]);
  for (int t = length - 1; t > 0; --t, row -= width) {
    if constexpr (NV == 0) check_interruption(static_cast<std::int64_t>(n) * width / w);
    const float* e = emissions + static_cast<std::ptrdiff_t>(t) * width;
    const float inverse = 1.0f / norms[t];
    for (int j = 0; j < width; ++j) weights[j] = e[j] * row[j] * inverse;
    weighted_rows<NV>(n, weights, chain.transposed, width, row - width);
    watch(row - width, 1.0f / norms[t - 1]);
  }
  return largest;
}

template <int NV>
MARGENT_INLINE void expected_rows(int length, int n, int given_width, const float* emissions, const float* norms,
                                  const float* alpha, const float* beta, float factor, float* nodes, float* pairs) {
  constexpr int w = W<float>;
  const int width = NV > 0 ? NV * w : given_width;
  for (int t = 0; t < length; ++t) {
    if constexpr (NV == 0) check_interruption(static_cast<std::int64_t>(n) * width / w);
    const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(t) * width;
    for (int j = 0; j < width; ++j) nodes[row + j] += factor * (alpha[row + j] * beta[row + j]);
    if (t == 0) continue;
    const float* before = alpha + row - width;
    const float scale = factor / norms[t];
    if constexpr (NV > 0) {
      Vec<float, w> after[NV];
      for (int v = 0; v < NV; ++v)
        after[v] =
            load<float, w>(emissions + row + v * w) * load<float, w>(beta + row + v * w) * broadcast<float, w>(scale);
      for (int i = 0; i < n; ++i) {
        const Vec<float, w> a = broadcast<float, w>(before[i]);
        float* out = pairs + i * width;
        for (int v = 0; v < NV; ++v) store(out + v * w, load<float, w>(out + v * w) + a * after[v]);
      }
    } else {
      for (int i = 0; i < n; ++i) {
        const float a = before[i];
        float* out = pairs + static_cast<std::ptrdiff_t>(i) * width;
        for (int j = 0; j < width; ++j) out[j] += a * (emissions[row + j] * beta[row + j] * scale);
      }
    }
  }
}

inline void forward_sums(int length, int n, int width, const ExpChain& chain, const float* emissions, float* alpha,
                         float* norms) {
  by_width<float>(width, [&]<int NV>() { forward_rows<NV>(length, n, width, chain, emissions, alpha, norms); });
}

inline float backward_sums(int length, int n, int width, const ExpChain& chain, const float* emissions,
                           const float* norms, float total, float* beta) {
  return by_width<float>(
      width, [&]<int NV>() { return backward_rows<NV>(length, n, width, chain, emissions, norms, total, beta); });
}

inline void expectations(int length, int n, int width, const float* emissions, const float* norms, const float* alpha,
                         const float* beta, float factor, float* nodes, float* pairs) {
  by_width<float>(width, [&]<int NV>() {
    expected_rows<NV>(length, n, width, emissions, norms, alpha, beta, factor, nodes, pairs);
  });
}

extern const SumKernels sums;
const SumKernels sums{exp_rows, forward_sums, backward_sums, expectations};

}  // namespace MARGENT_ISA
}  // namespace margent
