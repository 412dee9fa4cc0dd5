// Fixed-width vectors for the kernels, with a portable form.
//
// Vec<Real, W> holds W numbers. GCC and Clang map it to the machine's registers when W fits them (a vector wider than
// the machine's is very slow, so W is chosen per instruction set); elsewhere it is an array and the compiler may
// vectorise the loops. No intrinsics, no standard templates: see the note in CMakeLists.txt.
#pragma once
#include <cstdint>

#if defined(_MSC_VER)
#define MARGENT_INLINE static __forceinline
#define MARGENT_PREFETCH(address) ((void)(address))
#else
#define MARGENT_INLINE static inline __attribute__((always_inline))
#define MARGENT_PREFETCH(address) __builtin_prefetch(address, 0, 3)
#endif

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace margent {

#if defined(__GNUC__) || defined(__clang__)
template <class Real, int W>
struct Vec {
  typedef Real Lanes __attribute__((vector_size(W * sizeof(Real)), aligned(sizeof(Real)), may_alias));
  Lanes lanes;
};
template <class Real, int W>
MARGENT_INLINE Vec<Real, W> load(const Real* p) {
  return {*reinterpret_cast<const typename Vec<Real, W>::Lanes*>(p)};
}
template <class Real, int W>
MARGENT_INLINE void store(Real* p, Vec<Real, W> a) {
  *reinterpret_cast<typename Vec<Real, W>::Lanes*>(p) = a.lanes;
}
template <class Real, int W>
MARGENT_INLINE Vec<Real, W> broadcast(Real x) {
  return {x - typename Vec<Real, W>::Lanes{}};  // minus zero, which changes no number, so that no addition is left
}
template <class Real, int W>
MARGENT_INLINE Vec<Real, W> operator+(Vec<Real, W> a, Vec<Real, W> b) {
  return {a.lanes + b.lanes};
}
template <class Real, int W>
MARGENT_INLINE Vec<Real, W> operator*(Vec<Real, W> a, Vec<Real, W> b) {
  return {a.lanes * b.lanes};
}
template <class Real, int W>
MARGENT_INLINE Vec<Real, W> maximum(Vec<Real, W> a, Vec<Real, W> b) {
  return {a.lanes > b.lanes ? a.lanes : b.lanes};
}
// Each number without its fraction.
template <int W>
MARGENT_INLINE Vec<float, W> truncate(Vec<float, W> a) {
  typedef std::int32_t Whole __attribute__((vector_size(W * sizeof(float))));
  return {__builtin_convertvector(__builtin_convertvector(a.lanes, Whole), typename Vec<float, W>::Lanes)};
}
// 2^k for integers -126 <= k <= 127.
template <int W>
MARGENT_INLINE Vec<float, W> power_of_two(Vec<float, W> k) {
  typedef std::int32_t Whole __attribute__((vector_size(W * sizeof(float))));
  return {(typename Vec<float, W>::Lanes)((__builtin_convertvector(k.lanes, Whole) + 127) << 23)};
}
// a where x > bound, elsewhere 0.
template <int W>
MARGENT_INLINE Vec<float, W> where_above(Vec<float, W> x, Vec<float, W> bound, Vec<float, W> a) {
  return {x.lanes > bound.lanes ? a.lanes : typename Vec<float, W>::Lanes{}};
}
template <class Real, int W>
MARGENT_INLINE Real lane(Vec<Real, W> a, int i) {
  return a.lanes[i];
}
// Adds 1 to the lanes of `count` where a and b are equal.
template <int W>
MARGENT_INLINE Vec<std::int32_t, W> count_equal(Vec<std::int32_t, W> count, Vec<std::int32_t, W> a,
                                                Vec<std::int32_t, W> b) {
  return {count.lanes - (a.lanes == b.lanes)};  // a comparison gives -1 for true
}
#else
template <class Real, int W>
struct Vec {
  Real lanes[W];
};
template <class Real, int W>
MARGENT_INLINE Vec<Real, W> load(const Real* p) {
  Vec<Real, W> a;
  for (int i = 0; i < W; ++i) a.lanes[i] = p[i];
  return a;
}
template <class Real, int W>
MARGENT_INLINE void store(Real* p, Vec<Real, W> a) {
  for (int i = 0; i < W; ++i) p[i] = a.lanes[i];
}
template <class Real, int W>
MARGENT_INLINE Vec<Real, W> broadcast(Real x) {
  Vec<Real, W> a;
  for (int i = 0; i < W; ++i) a.lanes[i] = x;
  return a;
}
template <class Real, int W>
MARGENT_INLINE Vec<Real, W> operator+(Vec<Real, W> a, Vec<Real, W> b) {
  for (int i = 0; i < W; ++i) a.lanes[i] += b.lanes[i];
  return a;
}
template <class Real, int W>
MARGENT_INLINE Vec<Real, W> operator*(Vec<Real, W> a, Vec<Real, W> b) {
  for (int i = 0; i < W; ++i) a.lanes[i] *= b.lanes[i];
  return a;
}
template <class Real, int W>
MARGENT_INLINE Vec<Real, W> maximum(Vec<Real, W> a, Vec<Real, W> b) {
  for (int i = 0; i < W; ++i) a.lanes[i] = a.lanes[i] > b.lanes[i] ? a.lanes[i] : b.lanes[i];
  return a;
}
template <int W>
MARGENT_INLINE Vec<float, W> truncate(Vec<float, W> a) {
  for (int i = 0; i < W; ++i) a.lanes[i] = static_cast<float>(static_cast<std::int32_t>(a.lanes[i]));
  return a;
}
template <int W>
MARGENT_INLINE Vec<float, W> power_of_two(Vec<float, W> k) {
  for (int i = 0; i < W; ++i)
    k.lanes[i] = __builtin_bit_cast(float, (static_cast<std::int32_t>(k.lanes[i]) + 127) << 23);
  return k;
}
template <int W>
MARGENT_INLINE Vec<float, W> where_above(Vec<float, W> x, Vec<float, W> bound, Vec<float, W> a) {
  for (int i = 0; i < W; ++i) a.lanes[i] = x.lanes[i] > bound.lanes[i] ? a.lanes[i] : 0.0f;
  return a;
}
template <class Real, int W>
MARGENT_INLINE Real lane(Vec<Real, W> a, int i) {
  return a.lanes[i];
}
template <int W>
MARGENT_INLINE Vec<std::int32_t, W> count_equal(Vec<std::int32_t, W> count, Vec<std::int32_t, W> a,
                                                Vec<std::int32_t, W> b) {
  for (int i = 0; i < W; ++i) count.lanes[i] += a.lanes[i] == b.lanes[i];
  return count;
}
#endif

// Bit i says whether lane i of both is equal.
template <class Real, int W>
MARGENT_INLINE unsigned equal_lanes(Vec<Real, W> a, Vec<Real, W> b) {
  unsigned mask = 0;
  for (int i = 0; i < W; ++i) mask |= static_cast<unsigned>(lane(a, i) == lane(b, i)) << i;
  return mask;
}
// Bit i says whether lane i of a is at least that of b.
template <class Real, int W>
MARGENT_INLINE unsigned lanes_at_least(Vec<Real, W> a, Vec<Real, W> b) {
  unsigned mask = 0;
  for (int i = 0; i < W; ++i) mask |= static_cast<unsigned>(lane(a, i) >= lane(b, i)) << i;
  return mask;
}
#if defined(__AVX2__) && (defined(__GNUC__) || defined(__clang__))
MARGENT_INLINE unsigned lanes_at_least(Vec<float, 8> a, Vec<float, 8> b) {
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps((__m256)a.lanes, (__m256)b.lanes, _CMP_GE_OQ)));
}
MARGENT_INLINE unsigned lanes_at_least(Vec<double, 4> a, Vec<double, 4> b) {
  return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd((__m256d)a.lanes, (__m256d)b.lanes, _CMP_GE_OQ)));
}
MARGENT_INLINE unsigned equal_lanes(Vec<double, 4> a, Vec<double, 4> b) {
  return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd((__m256d)a.lanes, (__m256d)b.lanes, _CMP_EQ_OQ)));
}
MARGENT_INLINE unsigned equal_lanes(Vec<float, 8> a, Vec<float, 8> b) {
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps((__m256)a.lanes, (__m256)b.lanes, _CMP_EQ_OQ)));
}
#endif
// The number of the lowest of 32 bits that is set; 32 for none.
MARGENT_INLINE int lowest_bit(std::uint32_t mask) {
#if defined(__GNUC__) || defined(__clang__)
  return __builtin_ctzll(mask | std::uint64_t(1) << 32);
#else
  int i = 0;
  while (i < 32 && !(mask >> i & 1u)) ++i;
  return i;
#endif
}

}  // namespace margent
