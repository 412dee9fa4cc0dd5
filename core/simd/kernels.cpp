// Chooses the kernels at run time.
#include "simd/kernels.hpp"

#include <atomic>

#include "simd/segment_kernels.hpp"
#include "simd/sum_kernels.hpp"
#if defined(_M_X64)
#include <immintrin.h>
#include <intrin.h>
#endif

namespace margent {

namespace portable {
extern const Kernels<float> float_kernels;
extern const Kernels<double> double_kernels;
extern const SumKernels sums;
extern const SegmentKernels segments;
}  // namespace portable

#if defined(__x86_64__) || defined(_M_X64)
namespace avx2 {
extern const Kernels<float> float_kernels;
extern const Kernels<double> double_kernels;
extern const SumKernels sums;
extern const SegmentKernels segments;
}  // namespace avx2

static bool machine_has_avx2() {
#if defined(_M_X64)
  // The processor must have it, and the system must save the wide registers (OSXSAVE, then XMM and YMM in XCR0).
  int info[4];
  __cpuid(info, 0);
  if (info[0] < 7) return false;
  __cpuid(info, 1);
  if (!(info[2] & (1 << 27)) || (_xgetbv(0) & 6) != 6) return false;
  __cpuidex(info, 7, 0);
  return (info[1] & (1 << 5)) != 0;
#else
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2");
#endif
}
#else
namespace avx2 = portable;
static bool machine_has_avx2() { return false; }
#endif

static std::atomic<bool> avx2_in_use{machine_has_avx2()};

template <>
const Kernels<float>& kernels<float>() {
  return avx2_in_use ? avx2::float_kernels : portable::float_kernels;
}
template <>
const Kernels<double>& kernels<double>() {
  return avx2_in_use ? avx2::double_kernels : portable::double_kernels;
}

const SumKernels& sum_kernels() { return avx2_in_use ? avx2::sums : portable::sums; }

const SegmentKernels& segment_kernels() { return avx2_in_use ? avx2::segments : portable::segments; }

const char* instruction_set() { return avx2_in_use ? "avx2" : "portable"; }

bool use_avx2(bool wanted) {
  avx2_in_use = wanted && machine_has_avx2();
  return avx2_in_use;
}

}  // namespace margent
