// The kernels for any machine: 16-byte vectors, which every x86-64 and ARM64 processor has.
#define MARGENT_ISA portable
#define MARGENT_VECTOR_BYTES 16
#include "simd/kernels_body.hpp"
