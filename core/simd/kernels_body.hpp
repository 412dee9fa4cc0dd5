// The bodies of the kernels; included by kernels_portable.cpp and kernels_avx2.cpp, each of which defines
// MARGENT_ISA (a namespace) and MARGENT_VECTOR_BYTES. Raw pointers only: see the note in CMakeLists.txt.
#include "simd/kernels.hpp"
#include "simd/simd.hpp"

namespace margent {
namespace MARGENT_ISA {

template <class Real>
constexpr int W = MARGENT_VECTOR_BYTES / static_cast<int>(sizeof(Real));

// Calls run.operator()<NV>() with the number of vectors in a row where that has a loop of its own, and otherwise with
// 0.
template <class Real, class Run>
MARGENT_INLINE auto by_width(int width, Run run) {
  switch (width / W<Real>) {
    case 1:
      return run.template operator()<1>();
    case 2:
      return run.template operator()<2>();
    case 3:
      return run.template operator()<3>();
    case 4:
      return run.template operator()<4>();
    case 6:
      return run.template operator()<6>();
    default:
      return run.template operator()<0>();
  }
}

// How many vectors of a row are kept in registers at once.
constexpr int block = 4;

// A row, or part of one, in registers.
template <class Real, int NV>
struct Block {
  Vec<Real, W<Real>> part[NV];
};

template <class Real, int NV>
MARGENT_INLINE void store_block(Real* out, const Block<Real, NV>& block) {
  for (int v = 0; v < NV; ++v) store(out + v * W<Real>, block.part[v]);
}

// max over i < n of alpha[i * alpha_stride] + rows[i * row_stride + j], for NV vectors of columns. Two sets of maxima,
// for even and odd predecessors, halve the chain of dependent operations.
template <class Real, int NV>
MARGENT_INLINE Block<Real, NV> max_plus_block(int n, const Real* alpha, std::ptrdiff_t alpha_stride, const Real* rows,
                                              std::ptrdiff_t row_stride) {
  constexpr int w = W<Real>;
  Block<Real, NV> even, odd;
  const Vec<Real, w> first = broadcast<Real, w>(alpha[0]);
  for (int v = 0; v < NV; ++v) even.part[v] = odd.part[v] = load<Real, w>(rows + v * w) + first;
  int i = 1;
  for (; i + 1 < n; i += 2) {
    const Vec<Real, w> a = broadcast<Real, w>(alpha[i * alpha_stride]);
    const Vec<Real, w> b = broadcast<Real, w>(alpha[(i + 1) * alpha_stride]);
    const Real* r = rows + i * row_stride;
    const Real* s = r + row_stride;
    for (int v = 0; v < NV; ++v) {
      even.part[v] = maximum(load<Real, w>(r + v * w) + a, even.part[v]);
      odd.part[v] = maximum(load<Real, w>(s + v * w) + b, odd.part[v]);
    }
  }
  if (i < n) {
    const Vec<Real, w> a = broadcast<Real, w>(alpha[i * alpha_stride]);
    for (int v = 0; v < NV; ++v) even.part[v] = maximum(load<Real, w>(rows + i * row_stride + v * w) + a, even.part[v]);
  }
  for (int v = 0; v < NV; ++v) even.part[v] = maximum(even.part[v], odd.part[v]);
  return even;
}

// Rows wider than this many vectors are read from left to right, four predecessors at a time: then a table that does
// not fit into L1 streams through it. Narrower ones keep their maxima in registers.
constexpr int streamed_from = 16;

// out[j] = max(out[j], max over q < n of alpha(q) + row(q)[j]); alpha(q) and row(q) say where predecessor q lies.
template <class Real, class Alpha, class Row>
MARGENT_INLINE void max_plus_streamed(int n, Alpha alpha, Row row, int width, Real* out) {
  constexpr int w = W<Real>;
  int q = 0;
  for (; q + 4 <= n; q += 4) {
    const Vec<Real, w> a = broadcast<Real, w>(alpha(q)), b = broadcast<Real, w>(alpha(q + 1));
    const Vec<Real, w> c = broadcast<Real, w>(alpha(q + 2)), d = broadcast<Real, w>(alpha(q + 3));
    const Real *ra = row(q), *rb = row(q + 1), *rc = row(q + 2), *rd = row(q + 3);
    for (int j = 0; j < width; j += w) {
      const Vec<Real, w> first = maximum(load<Real, w>(ra + j) + a, load<Real, w>(rb + j) + b);
      const Vec<Real, w> second = maximum(load<Real, w>(rc + j) + c, load<Real, w>(rd + j) + d);
      store(out + j, maximum(maximum(first, second), load<Real, w>(out + j)));
    }
  }
  for (; q < n; ++q) {
    const Vec<Real, w> a = broadcast<Real, w>(alpha(q));
    const Real* ra = row(q);
    for (int j = 0; j < width; j += w) store(out + j, maximum(load<Real, w>(ra + j) + a, load<Real, w>(out + j)));
  }
}

template <class Real>
void max_plus(int n, const Real* alpha, std::ptrdiff_t alpha_stride, const Real* rows, std::ptrdiff_t row_stride,
              int width, Real* out) {
  constexpr int w = W<Real>;
  if (width > streamed_from * w) {
    const Vec<Real, w> first = broadcast<Real, w>(alpha[0]);
    for (int j = 0; j < width; j += w) store(out + j, load<Real, w>(rows + j) + first);
    const auto alpha_of = [=](int q) { return alpha[(q + 1) * alpha_stride]; };
    const auto row_of = [=](int q) { return rows + (q + 1) * row_stride; };
    return max_plus_streamed<Real>(n - 1, alpha_of, row_of, width, out);
  }
  int j = 0;
  for (; j + block * w <= width; j += block * w)
    store_block(out + j, max_plus_block<Real, block>(n, alpha, alpha_stride, rows + j, row_stride));
  for (; j < width; j += w) store_block(out + j, max_plus_block<Real, 1>(n, alpha, alpha_stride, rows + j, row_stride));
}

template <class Real, int NV>
MARGENT_INLINE void max_plus_chosen_block(int count, const std::int32_t* which, const Real* alpha, const Real* rows,
                                          std::ptrdiff_t row_stride, Real* out) {
  constexpr int w = W<Real>;
  Vec<Real, w> best[NV];
  for (int v = 0; v < NV; ++v) best[v] = load<Real, w>(out + v * w);
  for (int q = 0; q < count; ++q) {
    const Vec<Real, w> a = broadcast<Real, w>(alpha[which[q]]);
    const Real* row = rows + which[q] * row_stride;
    for (int v = 0; v < NV; ++v) best[v] = maximum(load<Real, w>(row + v * w) + a, best[v]);
  }
  for (int v = 0; v < NV; ++v) store(out + v * w, best[v]);
}

template <class Real>
void max_plus_chosen(int count, const std::int32_t* which, const Real* alpha, const Real* rows,
                     std::ptrdiff_t row_stride, int width, Real* out) {
  constexpr int w = W<Real>;
  if (width > streamed_from * w) {
    const auto alpha_of = [=](int q) { return alpha[which[q]]; };
    const auto row_of = [=](int q) { return rows + which[q] * row_stride; };
    return max_plus_streamed<Real>(count, alpha_of, row_of, width, out);
  }
  int j = 0;
  for (; j + block * w <= width; j += block * w)
    max_plus_chosen_block<Real, block>(count, which, alpha, rows + j, row_stride, out + j);
  for (; j < width; j += w) max_plus_chosen_block<Real, 1>(count, which, alpha, rows + j, row_stride, out + j);
}

template <class Real, int NV>
MARGENT_INLINE void forward_narrow(int length, int n, const Real* transitions, const Real* emissions, Real* alpha,
                                   Real* reached) {
  constexpr int w = W<Real>;
  constexpr std::ptrdiff_t width = NV * w;
  for (int t = 1; t < length; ++t) {
    Block<Real, NV> best = max_plus_block<Real, NV>(n, alpha + (t - 1) * width, 1, transitions, width);
    store_block(reached + t * width, best);
    for (int v = 0; v < NV; ++v) best.part[v] = best.part[v] + load<Real, w>(emissions + t * width + v * w);
    store_block(alpha + t * width, best);
  }
}

template <class Real>
void viterbi_forward(int length, int n, const Real* transitions, const Real* emissions, int width, Real* alpha,
                     Real* reached) {
  constexpr int w = W<Real>;
  by_width<Real>(width, [&]<int NV>() {
    if constexpr (NV > 0) return forward_narrow<Real, NV>(length, n, transitions, emissions, alpha, reached);
    for (int t = 1; t < length; ++t) {
      const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(t) * width;
      max_plus<Real>(n, alpha + row - width, 1, transitions, width, width, reached + row);
      for (int j = 0; j < width; j += w)
        store(alpha + row + j, load<Real, w>(reached + row + j) + load<Real, w>(emissions + row + j));
    }
  });
}

// Which of the NV vectors holds the label is as good as random, so all are compared and no branch is taken.
template <class Real, int NV>
MARGENT_INLINE void backward_narrow(int length, int n, const Real* transposed, const Real* alpha, const Real* reached,
                                    std::int32_t* labels) {
  constexpr int w = W<Real>;
  constexpr std::ptrdiff_t width = NV * w;
  std::ptrdiff_t label = labels[length - 1];
  for (int t = length - 1; t > 0; --t) {
    const Vec<Real, w> value = broadcast<Real, w>(reached[t * width + label]);
    const Real* a = alpha + (t - 1) * width;
    const Real* b = transposed + label * width;
    unsigned equal = 0;
    for (int v = 0; v < NV; ++v)
      equal |= equal_lanes(load<Real, w>(a + v * w) + load<Real, w>(b + v * w), value) << (v * w);
    label = lowest_bit(equal);
    label = label < n ? label : 0;
    labels[t - 1] = static_cast<std::int32_t>(label);
  }
}

template <class Real>
void viterbi_backward(int length, int n, const Real* transposed, int width, const Real* alpha, const Real* reached,
                      std::int32_t* labels) {
  constexpr int w = W<Real>;
  by_width<Real>(width, [&]<int NV>() {
    // The bits of all vectors in one word, where they fit and are few.
    if constexpr (NV > 0 && NV <= 4 && 4 * w <= 32)
      return backward_narrow<Real, NV>(length, n, transposed, alpha, reached, labels);
    std::ptrdiff_t label = labels[length - 1];
    for (int t = length - 1; t > 0; --t) {
      const Vec<Real, w> value = broadcast<Real, w>(reached[t * static_cast<std::ptrdiff_t>(width) + label]);
      const Real* a = alpha + (t - 1) * static_cast<std::ptrdiff_t>(width);
      const Real* b = transposed + label * width;
      label = 0;
      for (int j = 0; j < width; j += w) {
        const unsigned equal = equal_lanes(load<Real, w>(a + j) + load<Real, w>(b + j), value);
        if (equal) {
          label = j + lowest_bit(equal);
          break;
        }
      }
      label = label < n ? label : 0;
      labels[t - 1] = static_cast<std::int32_t>(label);
    }
  });
}

template <class Real>
int at_least(int n, const Real* alpha, const Real* row, int width, Real least, std::int32_t* found) {
  constexpr int w = W<Real>;
  const Vec<Real, w> bound = broadcast<Real, w>(least);
  int count = 0;
  for (int j = 0; j < width; j += w)
    for (unsigned left = lanes_at_least(load<Real, w>(alpha + j) + load<Real, w>(row + j), bound); left;
         left &= left - 1) {
      const int i = j + lowest_bit(left);
      if (i < n) found[count++] = i;  // past n only what is not a number could get here
    }
  return count;
}

template <class Real, int NV, bool weighted>
MARGENT_INLINE Block<Real, NV> gather_block(const Real* rows, int width, const std::int32_t* ids, const float* values,
                                            std::int64_t count) {
  constexpr int w = W<Real>;
  Block<Real, NV> sum;
  for (int v = 0; v < NV; ++v) sum.part[v] = broadcast<Real, w>(Real(0));
  for (std::int64_t k = 0; k < count; ++k) {
    const Real* row = rows + static_cast<std::ptrdiff_t>(ids[k]) * width;
    if constexpr (weighted) {
      const Vec<Real, w> x = broadcast<Real, w>(static_cast<Real>(values[k]));
      for (int v = 0; v < NV; ++v) sum.part[v] = sum.part[v] + x * load<Real, w>(row + v * w);
    } else {
      for (int v = 0; v < NV; ++v) sum.part[v] = sum.part[v] + load<Real, w>(row + v * w);
    }
  }
  return sum;
}

// How many tokens ahead rows are fetched: far enough to hide a cache miss, near enough to stay in L1.
constexpr std::int64_t ahead = 2;

template <class Real>
MARGENT_INLINE void prefetch_row(const Real* rows, int width, std::int32_t id) {
  const Real* row = rows + static_cast<std::ptrdiff_t>(id) * width;
  for (int j = 0; j < width; j += 64 / static_cast<int>(sizeof(Real))) MARGENT_PREFETCH(row + j);
}

// Asks for the rows of the token that comes `ahead` of t.
template <class Real>
MARGENT_INLINE void prefetch_ahead(const Real* rows, int width, const std::int32_t* ids, const std::int64_t* ptr,
                                   std::int64_t t, std::int64_t end) {
  if (t + ahead >= end) return;
  for (std::int64_t k = ptr[t + ahead]; k < ptr[t + ahead + 1]; ++k) prefetch_row(rows, width, ids[k]);
}

// The sum of the rows of token t, for widths that have no loop of their own.
template <class Real, bool weighted>
MARGENT_INLINE void gather_wide(const Real* rows, int width, const std::int32_t* ids, const float* values,
                                std::int64_t count, Real* out) {
  constexpr int w = W<Real>;
  int j = 0;
  for (; j + block * w <= width; j += block * w)
    store_block(out + j, gather_block<Real, block, weighted>(rows + j, width, ids, values, count));
  for (; j < width; j += w) store_block(out + j, gather_block<Real, 1, weighted>(rows + j, width, ids, values, count));
}

// NV = 0 stands for widths that have no loop of their own.
template <class Real, int NV, bool weighted>
MARGENT_INLINE void gather_tokens(const Real* rows, int given_width, const std::int32_t* ids, const float* values,
                                  const std::int64_t* ptr, std::int64_t begin, std::int64_t end, std::int64_t last,
                                  Real* out) {
  const int width = NV > 0 ? NV * W<Real> : given_width;
  for (std::int64_t t = begin; t < end; ++t, out += width) {
    prefetch_ahead(rows, width, ids, ptr, t, last);
    const float* x = weighted ? values + ptr[t] : nullptr;
    if constexpr (NV > 0)
      store_block(out, gather_block<Real, NV, weighted>(rows, width, ids + ptr[t], x, ptr[t + 1] - ptr[t]));
    else
      gather_wide<Real, weighted>(rows, width, ids + ptr[t], x, ptr[t + 1] - ptr[t], out);
  }
}

// Rows and maxima of a token stay in registers from one end to the other.
template <class Real, int NV, bool weighted>
MARGENT_INLINE void gather_viterbi_tokens(const Real* rows, int given_width, const std::int32_t* ids,
                                          const float* values, const std::int64_t* ptr, std::int64_t begin,
                                          std::int64_t end, std::int64_t last, int n, const Real* transitions,
                                          const Real* start, Real* emissions, Real* alpha, Real* reached) {
  constexpr int w = W<Real>;
  const int width = NV > 0 ? NV * w : given_width;
  for (std::int64_t t = begin; t < end; ++t, emissions += width, alpha += width, reached += width) {
    prefetch_ahead(rows, width, ids, ptr, t, last);
    const std::int64_t count = ptr[t + 1] - ptr[t];
    const float* x = weighted ? values + ptr[t] : nullptr;
    if constexpr (NV > 0) {
      Block<Real, NV> sum = gather_block<Real, NV, weighted>(rows, width, ids + ptr[t], x, count);
      store_block(emissions, sum);
      if (t > begin) {
        const Block<Real, NV> best = max_plus_block<Real, NV>(n, alpha - width, 1, transitions, width);
        store_block(reached, best);
        for (int v = 0; v < NV; ++v) sum.part[v] = best.part[v] + sum.part[v];
      } else {
        for (int v = 0; v < NV; ++v) sum.part[v] = load<Real, w>(start + v * w) + sum.part[v];
      }
      store_block(alpha, sum);
    } else {
      gather_wide<Real, weighted>(rows, width, ids + ptr[t], x, count, emissions);
      if (t > begin) max_plus<Real>(n, alpha - width, 1, transitions, width, width, reached);
      const Real* from = t > begin ? reached : start;
      for (int j = 0; j < width; j += w) store(alpha + j, load<Real, w>(from + j) + load<Real, w>(emissions + j));
    }
  }
}

template <class Real>
void gather_viterbi(const Real* rows, int width, const std::int32_t* ids, const float* values, const std::int64_t* ptr,
                    std::int64_t begin, std::int64_t end, std::int64_t last, int n, const Real* transitions,
                    const Real* start, Real* emissions, Real* alpha, Real* reached) {
  const auto run = [&]<int NV>() {
    if (values)
      gather_viterbi_tokens<Real, NV, true>(rows, width, ids, values, ptr, begin, end, last, n, transitions, start,
                                            emissions, alpha, reached);
    else
      gather_viterbi_tokens<Real, NV, false>(rows, width, ids, values, ptr, begin, end, last, n, transitions, start,
                                             emissions, alpha, reached);
  };
  by_width<Real>(width, run);
}

template <class Real>
void gather(const Real* rows, int width, const std::int32_t* ids, const float* values, const std::int64_t* ptr,
            std::int64_t begin, std::int64_t end, std::int64_t last, Real* out) {
  by_width<Real>(width, [&]<int NV>() {
    if (values)
      gather_tokens<Real, NV, true>(rows, width, ids, values, ptr, begin, end, last, out);
    else
      gather_tokens<Real, NV, false>(rows, width, ids, values, ptr, begin, end, last, out);
  });
}

// A block of b stays in a register while all of a goes by. The last block is moved back to end where b does, and counts
// only what no block before has.
static std::int64_t equal_pairs(const std::int32_t* a, std::int64_t n, const std::int32_t* b, std::int64_t m) {
  constexpr int w = W<std::int32_t>;
  std::int64_t sum = 0;
  if (m < w) {
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < m; ++j) sum += a[i] == b[j];
    return sum;
  }
  for (std::int64_t j = 0; j < m; j += w) {
    const std::int64_t from = j + w <= m ? j : m - w;
    const Vec<std::int32_t, w> block = load<std::int32_t, w>(b + from);
    Vec<std::int32_t, w> count = broadcast<std::int32_t, w>(0);
    for (std::int64_t i = 0; i < n; ++i) count = count_equal(count, block, broadcast<std::int32_t, w>(a[i]));
    for (int v = static_cast<int>(j - from); v < w; ++v) sum += lane(count, v);
  }
  return sum;
}

template <class Real>
void prefetch(const Real* rows, int width, const std::int32_t* ids, const std::int64_t* ptr, std::int64_t begin,
              std::int64_t end) {
  for (std::int64_t t = begin - ahead; t < begin; ++t) prefetch_ahead(rows, width, ids, ptr, t, end);
}

extern const Kernels<float> float_kernels;
extern const Kernels<double> double_kernels;

template <class Real>
constexpr Kernels<Real> all_kernels{max_plus<Real>,         max_plus_chosen<Real>, viterbi_forward<Real>,
                                    viterbi_backward<Real>, at_least<Real>,        gather_viterbi<Real>,
                                    gather<Real>,           equal_pairs,           prefetch<Real>};
const Kernels<float> float_kernels = all_kernels<float>;
const Kernels<double> double_kernels = all_kernels<double>;

}  // namespace MARGENT_ISA
}  // namespace margent

#include "simd/segment_kernels_body.hpp"
#include "simd/sum_kernels_body.hpp"
