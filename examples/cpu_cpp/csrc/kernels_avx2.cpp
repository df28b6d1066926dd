// The kernels for x86-64 processors with AVX2, FMA and F16C.
#include <cstdint>
#include <cstring>
#include <type_traits>
#if defined(__x86_64__)
#include <immintrin.h>
#pragma GCC target("avx2,fma,f16c")
#define KERNELS_AVX2
#include "implementation.h"

namespace kernels {
const Kernels kAvx2 = kImplementation;
}
#endif
