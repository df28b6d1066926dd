// The kernels for any processor.
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "implementation.h"

namespace kernels {

const Kernels kPortable = kImplementation;

void store_scalar(DType dtype, void* y, double value) {
  with_float_type(dtype, [&](auto* type) {
    store_part(static_cast<decltype(type)>(y), splat(static_cast<float>(value)), 1);
  });
}

const Kernels& best() {
#if defined(__x86_64__)
  static const bool has_avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  if (has_avx2) return kAvx2;
#endif
  return kPortable;
}

}  // namespace kernels
