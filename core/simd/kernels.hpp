// The inner loops of the chain, compiled once per instruction set and chosen at run time.
//
// Every row is `width` numbers long: the label count rounded up to `lane_count`, so that a row fills
// vectors exactly. Columns past the label count are padding: any kernel may compute them, no caller may read them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>

namespace margent {

inline constexpr int lane_count = 8;  // floats in an AVX2 register; half a cache line
inline constexpr int padded_width(int n_labels) { return (n_labels + lane_count - 1) / lane_count * lane_count; }

template <class Real>
struct Kernels {
  // out[j] = max over i < n of alpha[i * alpha_stride] + rows[i * row_stride + j]   for j < width.
  void (*max_plus)(int n, const Real* alpha, std::ptrdiff_t alpha_stride, const Real* rows, std::ptrdiff_t row_stride,
                   int width, Real* out);

  // out[j] = max(out[j], max over q < count of alpha[which[q]] + rows[which[q] * row_stride + j])   for j < width.
  void (*max_plus_chosen)(int count, const std::int32_t* which, const Real* alpha, const Real* rows,
                          std::ptrdiff_t row_stride, int width, Real* out);

  // Viterbi's forward recursion of an order-1 chain over a whole sequence, positions 1 to length - 1:
  // reached[t][j] = max over i < n of alpha[t-1][i] + transitions[i][j], alpha[t][j] = reached[t][j] + emissions[t][j].
  void (*viterbi_forward)(int length, int n, const Real* transitions, const Real* emissions, int width, Real* alpha,
                          Real* reached);

  // Viterbi's way back after viterbi_forward: labels[length - 1] is given; labels[t - 1] is the first i < n with
  // alpha[t-1][i] + transposed[labels[t]][i] == reached[t][labels[t]]. The forward step computed that very sum, so one
  // of them is equal to the bit (if none is, as with scores that are not numbers, 0 is taken). Columns of `transposed`
  // past the label count must be -inf.
  void (*viterbi_backward)(int length, int n, const Real* transposed, int width, const Real* alpha, const Real* reached,
                           std::int32_t* labels);

  // Which predecessors are good enough: writes the indices i < n, ascending, with alpha[i] + row[i] >= least to
  // `found`, which has room for n, and returns how many there are. Columns of `row` past n must be -inf, `least` must
  // not be.
  int (*at_least)(int n, const Real* alpha, const Real* row, int width, Real least, std::int32_t* found);

  // gather and viterbi_forward in one loop, from the first position on: alpha[0] = start + emissions[0]. Fetching the
  // rows of the next tokens then overlaps with the maxima of this one.
  void (*gather_viterbi)(const Real* rows, int width, const std::int32_t* ids, const float* values,
                         const std::int64_t* ptr, std::int64_t begin, std::int64_t end, std::int64_t last, int n,
                         const Real* transitions, const Real* start, Real* emissions, Real* alpha, Real* reached);

  // out[t - begin] = sum over k in [ptr[t], ptr[t + 1]) of values[k] * rows[ids[k]], for tokens begin <= t < end.
  // `values` may be null: then every value is 1. Rows of tokens before `last` are fetched ahead, also those from `end`
  // on, which the next call will probably want.
  void (*gather)(const Real* rows, int width, const std::int32_t* ids, const float* values, const std::int64_t* ptr,
                 std::int64_t begin, std::int64_t end, std::int64_t last, Real* out);

  // How many pairs (i, j) there are with a[i] == b[j], i < n, j < m.
  std::int64_t (*equal_pairs)(const std::int32_t* a, std::int64_t n, const std::int32_t* b, std::int64_t m);

  // Fetches the rows of the first tokens of begin <= t < end into the cache.
  void (*prefetch)(const Real* rows, int width, const std::int32_t* ids, const std::int64_t* ptr, std::int64_t begin,
                   std::int64_t end);
};

// The transpose of square transitions [n][width], as viterbi_backward wants it: [n][width], -inf past the labels.
template <class Real>
void transpose_transitions(const Real* transitions, int n, int width, Real* out) {
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < width; ++i)
      out[j * width + i] = i < n ? transitions[i * width + j] : -std::numeric_limits<Real>::infinity();
}

// out[j] = max over i < n of transitions[i][j], for j < n: ChainScores::transition_bound.
template <class Real>
void bound_transitions(const Real* transitions, int n, int width, Real* out) {
  for (int j = 0; j < n; ++j) out[j] = -std::numeric_limits<Real>::infinity();
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) out[j] = transitions[i * width + j] > out[j] ? transitions[i * width + j] : out[j];
}

// The kernels for this machine.
template <class Real>
const Kernels<Real>& kernels();
// Which they are: "avx2" or "portable".
const char* instruction_set();
// For tests and benchmarks: false forces the portable kernels. Returns whether AVX2 is now in use.
bool use_avx2(bool wanted);

}  // namespace margent
