// The bodies of the kernels; included by kernels_portable.cpp and kernels_avx2.cpp, each of which defines
// MARGENT_ISA (a namespace) and MARGENT_VECTOR_BYTES. Raw pointers only: see the note in CMakeLists.txt.
#include "kernels.hpp"
#include "simd.hpp"

namespace margent {
namespace MARGENT_ISA {

template <class Real>
constexpr int W = MARGENT_VECTOR_BYTES / static_cast<int>(sizeof(Real));

// How many vectors of a row are kept in registers at once.
constexpr int block = 4;

// Two sets of maxima, for even and odd predecessors, halve the chain of dependent operations.
template <class Real, int NV>
MARGENT_INLINE void max_plus_block(int n, const Real* alpha, std::ptrdiff_t alpha_stride, const Real* rows,
                                   std::ptrdiff_t row_stride, Real* out) {
  constexpr int w = W<Real>;
  Vec<Real, w> even[NV], odd[NV];
  const Vec<Real, w> first = broadcast<Real, w>(alpha[0]);
  for (int v = 0; v < NV; ++v) even[v] = odd[v] = load<Real, w>(rows + v * w) + first;
  int i = 1;
  for (; i + 1 < n; i += 2) {
    const Vec<Real, w> a = broadcast<Real, w>(alpha[i * alpha_stride]);
    const Vec<Real, w> b = broadcast<Real, w>(alpha[(i + 1) * alpha_stride]);
    const Real* r = rows + i * row_stride;
    const Real* s = r + row_stride;
    for (int v = 0; v < NV; ++v) {
      even[v] = maximum(load<Real, w>(r + v * w) + a, even[v]);
      odd[v] = maximum(load<Real, w>(s + v * w) + b, odd[v]);
    }
  }
  if (i < n) {
    const Vec<Real, w> a = broadcast<Real, w>(alpha[i * alpha_stride]);
    for (int v = 0; v < NV; ++v) even[v] = maximum(load<Real, w>(rows + i * row_stride + v * w) + a, even[v]);
  }
  for (int v = 0; v < NV; ++v) store(out + v * w, maximum(even[v], odd[v]));
}

template <class Real>
void max_plus(int n, const Real* alpha, std::ptrdiff_t alpha_stride, const Real* rows, std::ptrdiff_t row_stride,
              int width, Real* out) {
  constexpr int w = W<Real>;
  int j = 0;
  for (; j + block * w <= width; j += block * w)
    max_plus_block<Real, block>(n, alpha, alpha_stride, rows + j, row_stride, out + j);
  for (; j < width; j += w) max_plus_block<Real, 1>(n, alpha, alpha_stride, rows + j, row_stride, out + j);
}

template <class Real, int NV>
MARGENT_INLINE void forward_narrow(int length, int n, const Real* transitions, const Real* emissions, Real* alpha) {
  constexpr int w = W<Real>;
  constexpr std::ptrdiff_t width = NV * w;
  for (int t = 1; t < length; ++t) {
    Real* out = alpha + t * width;
    max_plus_block<Real, NV>(n, out - width, 1, transitions, width, out);
    for (int v = 0; v < NV; ++v) store(out + v * w, load<Real, w>(out + v * w) + load<Real, w>(emissions + t * width + v * w));
  }
}

template <class Real>
void viterbi_forward(int length, int n, const Real* transitions, const Real* emissions, int width, Real* alpha) {
  constexpr int w = W<Real>;
  switch (width / w) {
    case 1: return forward_narrow<Real, 1>(length, n, transitions, emissions, alpha);
    case 2: return forward_narrow<Real, 2>(length, n, transitions, emissions, alpha);
    case 3: return forward_narrow<Real, 3>(length, n, transitions, emissions, alpha);
    case 4: return forward_narrow<Real, 4>(length, n, transitions, emissions, alpha);
    case 6: return forward_narrow<Real, 6>(length, n, transitions, emissions, alpha);
    default: break;
  }
  for (int t = 1; t < length; ++t) {
    Real* out = alpha + static_cast<std::ptrdiff_t>(t) * width;
    const Real* e = emissions + static_cast<std::ptrdiff_t>(t) * width;
    max_plus<Real>(n, out - width, 1, transitions, width, width, out);
    for (int j = 0; j < width; j += w) store(out + j, load<Real, w>(out + j) + load<Real, w>(e + j));
  }
}

template <class Real>
int argmax_sum(const Real* a, const Real* b, int n) {
  constexpr int w = W<Real>;
  const int whole = n / w * w;
  int i = 0;
  Real best;
  if (whole > 0) {
    Vec<Real, w> m = load<Real, w>(a) + load<Real, w>(b);
    for (i = w; i < whole; i += w) m = maximum(load<Real, w>(a + i) + load<Real, w>(b + i), m);
    best = lane(m, 0);
    for (int q = 1; q < w; ++q) best = lane(m, q) > best ? lane(m, q) : best;
  } else {
    best = a[0] + b[0];
  }
  for (int q = whole; q < n; ++q) best = a[q] + b[q] > best ? a[q] + b[q] : best;
  for (int q = 0; q < n; ++q)
    if (a[q] + b[q] == best) return q;
  return 0;
}

template <class Real, int NV, bool weighted>
MARGENT_INLINE void gather_block(const Real* rows, int width, const std::int32_t* ids, const float* values,
                                 std::int64_t count, Real* out) {
  constexpr int w = W<Real>;
  Vec<Real, w> sum[NV];
  for (int v = 0; v < NV; ++v) sum[v] = broadcast<Real, w>(Real(0));
  for (std::int64_t k = 0; k < count; ++k) {
    const Real* row = rows + static_cast<std::ptrdiff_t>(ids[k]) * width;
    if constexpr (weighted) {
      const Vec<Real, w> x = broadcast<Real, w>(static_cast<Real>(values[k]));
      for (int v = 0; v < NV; ++v) sum[v] = sum[v] + x * load<Real, w>(row + v * w);
    } else {
      for (int v = 0; v < NV; ++v) sum[v] = sum[v] + load<Real, w>(row + v * w);
    }
  }
  for (int v = 0; v < NV; ++v) store(out + v * w, sum[v]);
}

template <class Real>
MARGENT_INLINE void prefetch_rows(const Real* rows, int width, const std::int32_t* ids, std::int64_t count) {
  for (std::int64_t k = 0; k < count; ++k) {
    const Real* row = rows + static_cast<std::ptrdiff_t>(ids[k]) * width;
    for (int j = 0; j < width; j += 64 / static_cast<int>(sizeof(Real))) MARGENT_PREFETCH(row + j);
  }
}

template <class Real, int NV, bool weighted>
MARGENT_INLINE void gather_tokens(const Real* rows, int width, const std::int32_t* ids, const float* values,
                                  const std::int64_t* ptr, std::int64_t begin, std::int64_t end, Real* out) {
  constexpr int w = W<Real>;
  constexpr std::int64_t ahead = 2;  // tokens: far enough to hide a cache miss, near enough to stay in L1
  for (std::int64_t t = begin; t < end; ++t, out += width) {
    if (t + ahead < end) prefetch_rows(rows, width, ids + ptr[t + ahead], ptr[t + ahead + 1] - ptr[t + ahead]);
    const std::int64_t count = ptr[t + 1] - ptr[t];
    const float* x = weighted ? values + ptr[t] : nullptr;
    if constexpr (NV > 0) {
      gather_block<Real, NV, weighted>(rows, width, ids + ptr[t], x, count, out);
    } else {
      int j = 0;
      for (; j + block * w <= width; j += block * w)
        gather_block<Real, block, weighted>(rows + j, width, ids + ptr[t], x, count, out + j);
      for (; j < width; j += w) gather_block<Real, 1, weighted>(rows + j, width, ids + ptr[t], x, count, out + j);
    }
  }
}

template <class Real, bool weighted>
void gather_width(const Real* rows, int width, const std::int32_t* ids, const float* values, const std::int64_t* ptr,
                  std::int64_t begin, std::int64_t end, Real* out) {
  switch (width / W<Real>) {
    case 1: return gather_tokens<Real, 1, weighted>(rows, width, ids, values, ptr, begin, end, out);
    case 2: return gather_tokens<Real, 2, weighted>(rows, width, ids, values, ptr, begin, end, out);
    case 3: return gather_tokens<Real, 3, weighted>(rows, width, ids, values, ptr, begin, end, out);
    case 4: return gather_tokens<Real, 4, weighted>(rows, width, ids, values, ptr, begin, end, out);
    case 6: return gather_tokens<Real, 6, weighted>(rows, width, ids, values, ptr, begin, end, out);
    default: return gather_tokens<Real, 0, weighted>(rows, width, ids, values, ptr, begin, end, out);
  }
}

template <class Real>
void gather(const Real* rows, int width, const std::int32_t* ids, const float* values, const std::int64_t* ptr,
            std::int64_t begin, std::int64_t end, Real* out) {
  if (values)
    gather_width<Real, true>(rows, width, ids, values, ptr, begin, end, out);
  else
    gather_width<Real, false>(rows, width, ids, values, ptr, begin, end, out);
}

extern const Kernels<float> float_kernels;
extern const Kernels<double> double_kernels;
const Kernels<float> float_kernels{max_plus<float>, viterbi_forward<float>, argmax_sum<float>, gather<float>};
const Kernels<double> double_kernels{max_plus<double>, viterbi_forward<double>, argmax_sum<double>, gather<double>};

}  // namespace MARGENT_ISA
}  // namespace margent
