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
MARGENT_INLINE void forward_narrow(int length, int n, const Real* transitions, const Real* emissions, Real* alpha,
                                   Real* reached) {
  constexpr int w = W<Real>;
  constexpr std::ptrdiff_t width = NV * w;
  for (int t = 1; t < length; ++t) {
    Real* out = reached + t * width;
    max_plus_block<Real, NV>(n, alpha + (t - 1) * width, 1, transitions, width, out);
    for (int v = 0; v < NV; ++v)
      store(alpha + t * width + v * w, load<Real, w>(out + v * w) + load<Real, w>(emissions + t * width + v * w));
  }
}

template <class Real>
void viterbi_forward(int length, int n, const Real* transitions, const Real* emissions, int width, Real* alpha,
                     Real* reached) {
  constexpr int w = W<Real>;
  switch (width / w) {
    case 1: return forward_narrow<Real, 1>(length, n, transitions, emissions, alpha, reached);
    case 2: return forward_narrow<Real, 2>(length, n, transitions, emissions, alpha, reached);
    case 3: return forward_narrow<Real, 3>(length, n, transitions, emissions, alpha, reached);
    case 4: return forward_narrow<Real, 4>(length, n, transitions, emissions, alpha, reached);
    case 6: return forward_narrow<Real, 6>(length, n, transitions, emissions, alpha, reached);
    default: break;
  }
  for (int t = 1; t < length; ++t) {
    const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(t) * width;
    max_plus<Real>(n, alpha + row - width, 1, transitions, width, width, reached + row);
    for (int j = 0; j < width; j += w)
      store(alpha + row + j, load<Real, w>(reached + row + j) + load<Real, w>(emissions + row + j));
  }
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
  if constexpr (4 * w <= 32) {
    switch (width / w) {
      case 1: return backward_narrow<Real, 1>(length, n, transposed, alpha, reached, labels);
      case 2: return backward_narrow<Real, 2>(length, n, transposed, alpha, reached, labels);
      case 3: return backward_narrow<Real, 3>(length, n, transposed, alpha, reached, labels);
      case 4: return backward_narrow<Real, 4>(length, n, transposed, alpha, reached, labels);
      default: break;
    }
  }
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

// The row of one token, after asking for the rows of the token `ahead` of it.
template <class Real, int NV, bool weighted>
MARGENT_INLINE void gather_token(const Real* rows, int width, const std::int32_t* ids, const float* values,
                                 const std::int64_t* ptr, std::int64_t t, std::int64_t end, Real* out) {
  constexpr int w = W<Real>;
  constexpr std::int64_t ahead = 2;  // far enough to hide a cache miss, near enough to stay in L1
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

template <class Real, int NV, bool weighted>
MARGENT_INLINE void gather_tokens(const Real* rows, int width, const std::int32_t* ids, const float* values,
                                  const std::int64_t* ptr, std::int64_t begin, std::int64_t end, Real* out) {
  for (std::int64_t t = begin; t < end; ++t, out += width)
    gather_token<Real, NV, weighted>(rows, width, ids, values, ptr, t, end, out);
}

template <class Real, int NV, bool weighted>
MARGENT_INLINE void gather_viterbi_tokens(const Real* rows, int width, const std::int32_t* ids, const float* values,
                                          const std::int64_t* ptr, std::int64_t begin, std::int64_t end, int n,
                                          const Real* transitions, const Real* start, Real* emissions, Real* alpha,
                                          Real* reached) {
  constexpr int w = W<Real>;
  for (std::int64_t t = begin; t < end; ++t, emissions += width, alpha += width, reached += width) {
    gather_token<Real, NV, weighted>(rows, width, ids, values, ptr, t, end, emissions);
    const Real* from = start;
    if (t > begin) {
      if constexpr (NV > 0)
        max_plus_block<Real, NV>(n, alpha - width, 1, transitions, width, reached);
      else
        max_plus<Real>(n, alpha - width, 1, transitions, width, width, reached);
      from = reached;
    }
    for (int j = 0; j < width; j += w) store(alpha + j, load<Real, w>(from + j) + load<Real, w>(emissions + j));
  }
}

template <class Real>
void gather_viterbi(const Real* rows, int width, const std::int32_t* ids, const float* values, const std::int64_t* ptr,
                    std::int64_t begin, std::int64_t end, int n, const Real* transitions, const Real* start,
                    Real* emissions, Real* alpha, Real* reached) {
  const auto run = [&]<int NV>() {
    if (values)
      gather_viterbi_tokens<Real, NV, true>(rows, width, ids, values, ptr, begin, end, n, transitions, start, emissions,
                                            alpha, reached);
    else
      gather_viterbi_tokens<Real, NV, false>(rows, width, ids, values, ptr, begin, end, n, transitions, start, emissions,
                                             alpha, reached);
  };
  switch (width / W<Real>) {
    case 1: return run.template operator()<1>();
    case 2: return run.template operator()<2>();
    case 3: return run.template operator()<3>();
    case 4: return run.template operator()<4>();
    case 6: return run.template operator()<6>();
    default: return run.template operator()<0>();
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
const Kernels<float> float_kernels{max_plus<float>, viterbi_forward<float>, viterbi_backward<float>,
                                   gather_viterbi<float>, gather<float>};
const Kernels<double> double_kernels{max_plus<double>, viterbi_forward<double>, viterbi_backward<double>,
                                     gather_viterbi<double>, gather<double>};

}  // namespace MARGENT_ISA
}  // namespace margent
