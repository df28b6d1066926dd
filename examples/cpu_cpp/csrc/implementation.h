// All kernels for the instruction set that the including file has chosen.
#pragma once

#include "functions.h"
#include "kernels.h"
#include "power.h"

namespace kernels {
namespace {

// ---- Loops --------------------------------------------------------------------------

// Calls `step(i, lanes)` for blocks of eight elements; the first and the last may be shorter.
// `lanes` is a constant in the inner loop. Streaming stores need `y` aligned there.
template <class T, class Whole, class Part>
INLINE void blocks(const T* y, int64_t count, Write write, Whole whole, Part part) {
  using Packed = typename Packed<T>::type;
  int64_t i = 0;
  if (kCanStream && write == Write::kStreaming) {
    const int64_t ahead = -(reinterpret_cast<uintptr_t>(y) / sizeof(T)) % (sizeof(Packed) / sizeof(T));
    if (ahead != 0) part(0, i = ahead < count ? ahead : count);
    for (; i + kLanes <= count; i += kLanes) whole(i, std::true_type{});
    finish_streaming();
  } else {
    for (; i + kLanes <= count; i += kLanes) whole(i, std::false_type{});
  }
  if (i < count) part(i, count - i);
}

template <class T, class Streaming>
INLINE void store(T* y, F8 value, Streaming) {
  if constexpr (Streaming::value) {
    store_streaming(y, pack<T>(value));
  } else {
    store_cached(y, pack<T>(value));
  }
}

// y[i] = function(inputs[i]...)
template <class T, class F, class... X>
INLINE void map(T* y, int64_t count, Write write, F function, const X*... x) {
  blocks(
      y, count, write, [&](int64_t i, auto streaming) { store(y + i, function(load(x + i)...), streaming); },
      [&](int64_t i, int64_t lanes) { store_part(y + i, function(load_part(x + i, lanes)...), lanes); });
}

// Calls `body` with a null pointer of the element type.
template <class Body>
INLINE void with_float_type(DType dtype, Body body) {
  switch (dtype) {
    case DType::kFloat32: return body(static_cast<float*>(nullptr));
    case DType::kFloat16: return body(static_cast<Float16*>(nullptr));
    default: return body(static_cast<BFloat16*>(nullptr));
  }
}

template <class Body>
INLINE void with_any_type(DType dtype, Body body) {
  switch (dtype) {
    case DType::kInt8: return body(static_cast<int8_t*>(nullptr));
    case DType::kUInt8: return body(static_cast<uint8_t*>(nullptr));
    default: return with_float_type(dtype, body);
  }
}

template <class F>
INLINE void map_by_type(DType dtype, const void* x, void* y, int64_t count, Write write, F function) {
  with_float_type(dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    map(static_cast<T*>(y), count, write, [&](F8 value) { return function(type, value); }, static_cast<const T*>(x));
  });
}

template <class Pointer>
using ElementOf = std::remove_pointer_t<Pointer>;

// ---- Elementwise --------------------------------------------------------------------

void run_exponential(DType dtype, const void* x, void* y, int64_t count, Exponent exponent, Write write) {
  map_by_type(dtype, x, y, count, write, [=](auto* type, F8 value) {
    return exp2_affine<ElementOf<decltype(type)>>(value, exponent.factor, exponent.offset);
  });
}

void run_sigmoid(DType dtype, const void* x, void* y, int64_t count, Write write) {
  map_by_type(dtype, x, y, count, write,
              [](auto* type, F8 value) { return sigmoid<ElementOf<decltype(type)>>(value); });
}

void run_mish(DType dtype, const void* x, void* y, int64_t count, Write write) {
  map_by_type(dtype, x, y, count, write, [](auto* type, F8 value) { return mish<ElementOf<decltype(type)>>(value); });
}

void run_gelu_exact(DType dtype, const void* x, void* y, int64_t count, Write write) {
  map_by_type(dtype, x, y, count, write,
              [](auto* type, F8 value) { return gelu_exact<ElementOf<decltype(type)>>(value); });
}

void run_gelu_tanh(DType dtype, const void* x, void* y, int64_t count, Write write) {
  map_by_type(dtype, x, y, count, write,
              [](auto* type, F8 value) { return gelu_tanh<ElementOf<decltype(type)>>(value); });
}

void run_silu_product(DType dtype, const void* gate, const void* value, void* y, int64_t count, Write write) {
  with_float_type(dtype, [&](auto* type) {
    using T = ElementOf<decltype(type)>;
    map(
        static_cast<T*>(y), count, write, [](F8 a, F8 b) { return silu<T>(a) * b; }, static_cast<const T*>(gate),
        static_cast<const T*>(value));
  });
}

// The product of three is taken in double precision where a pair of them could overflow or
// vanish in single precision and the third bring it back: memory is the bottleneck either way.
template <class T, class Mask>
constexpr bool kWide = !std::is_same_v<T, Float16> && (std::is_same_v<Mask, float> || std::is_same_v<Mask, BFloat16>);

void run_masked_scale(DType dtype, DType mask_dtype, const void* x, const void* mask, void* y, int64_t count,
                      double scale, Write write) {
  with_float_type(dtype, [&](auto* type) {
    with_any_type(mask_dtype, [&](auto* mask_type) {
      using T = ElementOf<decltype(type)>;
      using Mask = ElementOf<decltype(mask_type)>;
      const auto product = [=](F8 a, F8 b) {
        if constexpr (kWide<T, Mask>) {
          return narrow(widen(low_half(a)) * widen(low_half(b)) * scale, widen(high_half(a)) * widen(high_half(b)) * scale);
        } else {
          return a * (b * static_cast<float>(scale));
        }
      };
      map(static_cast<T*>(y), count, write, product, static_cast<const T*>(x), static_cast<const Mask*>(mask));
    });
  });
}

INLINE F4 addcdiv_wide(F4 a, F4 b, F4 c, double scalar) {
  return __builtin_convertvector(widen(a) + rounded(scalar * (widen(b) / widen(c))), F4);
}

// a + scalar * b / c as double precision has it: the sum may cancel, the quotient overflow and the
// scalar bring it back.
INLINE F8 addcdiv_wide(F8 a, F8 b, F8 c, double scalar) {
  const F4 low = addcdiv_wide(low_half(a), low_half(b), low_half(c), scalar);
  const F4 high = addcdiv_wide(high_half(a), high_half(b), high_half(c), scalar);
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
}

INLINE bool all_of(I8 mask) {
#if defined(KERNELS_AVX2)
  return _mm256_movemask_ps(reinterpret_cast<__m256>(mask)) == 0xff;
#else
  int32_t all = -1;
  for (int64_t lane = 0; lane < kLanes; ++lane) all &= mask[lane];
  return all != 0;
#endif
}

// A sum this much smaller than its first term has lost so many of its digits that it is taken again.
constexpr float kCancelled = 0x1p-9f;

// Single precision does for all but the blocks in which a sum cancels or something overflows.
INLINE F8 addcdiv(F8 a, F8 b, F8 c, double scalar) {
  const F8 result = a + static_cast<float>(scalar) * (b / c);
  const F8 size = absolute(result);
  const I8 sound = (size >= absolute(a) * kCancelled) & (size < __builtin_inff());
  return all_of(sound) ? result : addcdiv_wide(a, b, c, scalar);
}

void run_addcdiv(DType dtype, const void* x1, const void* x2, const void* x3, void* y, int64_t count, double scalar,
                 Write write) {
  with_float_type(dtype, [&](auto* type) {
    using T = ElementOf<decltype(type)>;
    map(
        static_cast<T*>(y), count, write, [=](F8 a, F8 b, F8 c) { return addcdiv(a, b, c, scalar); },
        static_cast<const T*>(x1), static_cast<const T*>(x2), static_cast<const T*>(x3));
  });
}

// ---- Norms --------------------------------------------------------------------------

INLINE double sum_of(D4 a) { return (a[0] + a[1]) + (a[2] + a[3]); }

// Σ term(|x|) in double precision with four accumulators.
template <class T, class Term>
INLINE double sum(const T* x, int64_t count, Term term) {
  D4 totals[4] = {};
  int64_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    const F8 first = absolute(load(x + i)), second = absolute(load(x + i + kLanes));
    totals[0] += term(widen(low_half(first)));
    totals[1] += term(widen(high_half(first)));
    totals[2] += term(widen(low_half(second)));
    totals[3] += term(widen(high_half(second)));
  }
  double total = sum_of((totals[0] + totals[1]) + (totals[2] + totals[3]));
  for (; i < count; ++i) {
    const F8 one = absolute(load_part(x + i, 1));
    total += term(widen(low_half(one)))[0];
  }
  return total;
}

// Σ x² in short runs of single precision, which double precision adds up. A run whose squares are too
// large or too small for that is taken again.
template <class T>
INLINE double sum_of_squares(const T* x, int64_t count) {
  constexpr int64_t kRun = 32 * kLanes;
  constexpr double kLeast = 0x1p-100, kMost = 0x1p127;
  const auto square = [](D4 a) { return a * a; };
  double total = 0;
  int64_t i = 0;
  for (; i + kRun <= count; i += kRun) {
    F8 sums[4] = {};
    for (int64_t k = i; k < i + kRun; k += 4 * kLanes) {
      for (int64_t part = 0; part < 4; ++part) {
        const F8 value = load(x + k + part * kLanes);
        sums[part] += value * value;
      }
    }
    const F8 all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    const double run = sum_of(widen(low_half(all)) + widen(high_half(all)));
    total += run >= kLeast && run <= kMost ? run : sum(x + i, kRun, square);
  }
  return total + sum(x + i, count - i, square);
}

// The largest (or smallest) magnitude; NaN where there is one.
template <class T, class Better>
INLINE double extreme(const T* x, int64_t count, float start, Better better) {
  F8 best = splat(start);
  for (int64_t i = 0; i < count; i += kLanes) {
    F8 value = absolute(i + kLanes <= count ? load(x + i) : load_part(x + i, count - i));
    for (int64_t lane = count - i; lane < kLanes; ++lane) value[lane] = start;
    best = better(value, best) | (value != value) ? value : best;
    // A NaN stays: no later value is better than it.
  }
  double result = start;
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    const float value = best[lane];
    if (value != value) return value;
    if (start == 0.f ? value > result : value < result) result = value;
  }
  return result;
}

template <class T>
double norm_of(const T* x, int64_t count, Norm norm) {
  switch (norm.kind) {
    case NormKind::kAbsolute: return sum(x, count, [](D4 a) { return a; });
    case NormKind::kSquare: return sum_of_squares(x, count);
    case NormKind::kNonZero: return sum(x, count, [](D4 a) { return a == 0.0 ? D4{} : D4{} + 1.0; });
    case NormKind::kMaximum: return extreme(x, count, 0.f, [](F8 a, F8 b) { return a > b; });
    case NormKind::kMinimum: return extreme(x, count, __builtin_inff(), [](F8 a, F8 b) { return a < b; });
    case NormKind::kCube: return sum(x, count, [](D4 a) { return a * a * a; });
    case NormKind::kFourth: return sum(x, count, [](D4 a) { return (a * a) * (a * a); });
    default: return sum(x, count, [=](D4 a) { return raise(a, norm.order); });
  }
}

double run_norm(DType dtype, const void* x, int64_t count, Norm norm) {
  double result = 0;
  with_float_type(dtype, [&](auto* type) { result = norm_of(static_cast<decltype(type)>(const_cast<void*>(x)), count, norm); });
  return result;
}

constexpr Kernels kImplementation = {run_exponential, run_sigmoid,  run_mish,         run_gelu_exact, run_gelu_tanh,
                                     run_masked_scale, run_addcdiv, run_silu_product, run_norm};

}  // namespace
}  // namespace kernels
