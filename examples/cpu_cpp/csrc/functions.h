// Elementary functions on eight floats.
//
// 2^t is split into a whole and a fractional part; a minimax polynomial on [-1/2, 1/2] gives
// the latter. Relative errors: float32 7e-8 (degree 5), 16-bit types 3e-6 (degree 4).
#pragma once

#include "vector.h"

namespace kernels {
namespace {

constexpr float kLog2E = 1.44269504088896341f;
// Adding it to a float of magnitude below 2^22 rounds that to a whole number.
constexpr float kRounder = 0x1.8p23f;

template <class T>
struct Precision {
  static constexpr bool kSixteenBit = sizeof(T) == 2;
};

template <class T>
INLINE F8 exp2_fraction(F8 r) {
  if constexpr (Precision<T>::kSixteenBit) {
    return (((9.570101276e-3f * r + 5.591785908e-2f) * r + 2.402474433e-1f) * r + 6.931217909e-1f) * r +
           9.999992847e-1f;
  } else {
    return ((((1.327647129e-3f * r + 9.675540961e-3f) * r + 5.550713092e-2f) * r + 2.402212024e-1f) * r +
            6.931469440e-1f) * r + 1.0000001f;
  }
}

struct Split {
  F8 whole;
  I8 power;
};

// The nearest whole number to `t`, |t| < 2^22. For NaN `power` is arbitrary.
INLINE Split nearest(F8 t) {
  const F8 shifted = t + kRounder;
  return {shifted - kRounder, bits_of(shifted) - bits_of(splat(kRounder))};
}

INLINE F8 power_of_two(I8 power) { return float_of((power + 127) << 23); }

// 2^t for t in [-126, 128]; from 127.5 on the result is infinity. NaN stays.
template <class T>
INLINE F8 exp2_normal(F8 t) {
  const Split split = nearest(t);
  return exp2_fraction<T>(t - split.whole) * power_of_two(split.power);
}

// 2^t for t in [-160, 60], down through the subnormal numbers to zero. NaN stays.
template <class T>
INLINE F8 exp2_small(F8 t) {
  const Split split = nearest(t);
  return exp2_fraction<T>(t - split.whole) * power_of_two(split.power + 64) * 0x1p-64f;
}

// 2^(x * factor + offset) for any x: overflows to infinity, underflows gradually to zero.
template <class T>
INLINE F8 exp2_affine(F8 x, float factor, float offset) {
  const Split split = nearest(at_most(at_least(x * factor + offset, -160.f), 160.f));
  // Subtracting before adding the offset keeps the bits that the sum would lose.
  const F8 fraction = at_most(at_least((x * factor - split.whole) + offset, -1.f), 1.f);
  const I8 half = split.power >> 1;
  return exp2_fraction<T>(fraction) * power_of_two(half) * power_of_two(split.power - half);
}

template <class T>
INLINE F8 sigmoid(F8 x) {
  const F8 e = exp2_small<T>(at_least(absolute(x) * -kLog2E, -160.f));
  return (x >= 0.f ? splat(1.f) : e) / (1.f + e);
}

// x * tanh(ln(1 + n)) with n = e^x equals x * m / (m + 2), m = n (n + 2). Beyond 20 it is x.
template <class T>
INLINE F8 mish(F8 x) {
  const F8 n = exp2_small<T>(at_most(at_least(x * kLog2E, -160.f), 20.f * kLog2E));
  const F8 m = n * (n + 2.f);
  return x * (m / (m + 2.f));
}

// x * sigmoid(x), where sigmoid stays above zero as long as it does in double precision: what an
// infinite factor makes of the product depends on it.
template <class T>
INLINE F8 silu(F8 x) {
  const F8 magnitude = absolute(x);
  const F8 e = exp2_small<T>(at_least(magnitude * -kLog2E, -149.f));
  const F8 tail = magnitude > 709.78f ? F8{} : e;
  return x * ((x >= 0.f ? splat(1.f) : tail) / (1.f + tail));
}

// x (1 + tanh(u)) / 2 = x / (1 + e^-2u) with u = sqrt(2/pi) (x + 0.044715 x^3).
template <class T>
INLINE F8 gelu_tanh(F8 x) {
  constexpr float kFactor = -2.f * 0.797884560802865f * kLog2E;
  const F8 t = x * (kFactor + kFactor * 0.044715f * (x * x));
  return x / (1.f + exp2_normal<T>(at_most(at_least(t, -126.f), 128.f)));
}

// log2 of the normal distribution's tail beyond a, a in [0, 9]. Absolute error up to a = 5.5:
// 7e-6 (float32); up to 4.5: 1.2e-4 (16-bit types). Farther out the tail times x is below 1e-7.
template <class T>
INLINE F8 log2_normal_tail(F8 a) {
  if constexpr (Precision<T>::kSixteenBit) {
    return (((((1.733943645e-5f * a - 5.192727549e-4f) * a + 6.642838940e-3f) * a - 4.966637492e-2f) * a -
             4.631439149e-1f) * a - 1.149336338f) * a - 1.000125289f;
  } else {
    return (((((((6.436528821e-8f * a - 3.368742764e-6f) * a + 7.630519394e-5f) * a - 1.003127778e-3f) * a +
               8.703793399e-3f) * a - 5.424237624e-2f) * a - 4.582687914e-1f) * a - 1.151301265f) * a -
           9.999932647e-1f;
  }
}

// x Phi(x) = max(x, 0) - |x| Phi(-|x|). The sum of halves is max(x, 0), and NaN at minus infinity,
// where the definition is -inf * 0.
template <class T>
INLINE F8 gelu_exact(F8 x) {
  const F8 magnitude = absolute(x);
  const F8 a = at_most(magnitude, 9.f);
  return (0.5f * x + 0.5f * magnitude) - a * exp2_normal<T>(log2_normal_tail<T>(a));
}

}  // namespace
}  // namespace kernels
