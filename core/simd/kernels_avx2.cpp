// The kernels with 32-byte vectors; compiled with AVX2 enabled and called only where the processor has it.
#if defined(__x86_64__) || defined(_M_X64)
#define MARGENT_ISA avx2
#define MARGENT_VECTOR_BYTES 32
#include "simd/kernels_body.hpp"
#endif
