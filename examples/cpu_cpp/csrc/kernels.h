// The kernels as the rest sees them: raw pointers, element counts, no torch.
#pragma once

#include <cstdint>

namespace kernels {

enum class DType { kFloat32, kFloat16, kBFloat16, kInt8, kUInt8 };

constexpr int64_t item_bytes(DType dtype) {
  switch (dtype) {
    case DType::kFloat32: return 4;
    case DType::kFloat16:
    case DType::kBFloat16: return 2;
    default: return 1;
  }
}

// y = 2^(x * factor + offset)
struct Exponent {
  float factor;
  float offset;
};

// Which sum a norm needs: of magnitudes, small powers, or any power; or the extremes.
enum class NormKind { kAbsolute, kSquare, kCube, kFourth, kPower, kMaximum, kMinimum, kNonZero };

struct Norm {
  NormKind kind;
  double order;
};

// How results are written: through the cache, or past it straight to memory.
enum class Write { kCached, kStreaming };

// One implementation per instruction set. All functions are serial, work on contiguous
// elements, and accept any count and any alignment of at least the element's size.
struct Kernels {
  void (*exponential)(DType, const void* x, void* y, int64_t count, Exponent, Write);
  void (*sigmoid)(DType, const void* x, void* y, int64_t count, Write);
  void (*mish)(DType, const void* x, void* y, int64_t count, Write);
  void (*gelu_exact)(DType, const void* x, void* y, int64_t count, Write);
  void (*gelu_tanh)(DType, const void* x, void* y, int64_t count, Write);
  void (*masked_scale)(DType, DType mask_dtype, const void* x, const void* mask, void* y, int64_t count, double scale,
                       Write);
  void (*addcdiv)(DType, const void* x1, const void* x2, const void* x3, void* y, int64_t count, double scalar, Write);
  void (*silu_product)(DType, const void* gate, const void* value, void* y, int64_t count, Write);
  // The sum (or the extreme) over the elements; `combine` in norm.h joins several.
  double (*norm)(DType, const void* x, int64_t count, Norm);
};

extern const Kernels kPortable;
#if defined(__x86_64__)
extern const Kernels kAvx2;
#endif

// The best implementation for this processor.
const Kernels& best();

// Writes a result's element.
void store_scalar(DType, void* y, double value);

}  // namespace kernels
