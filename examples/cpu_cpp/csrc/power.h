// |x|^p in double precision, four at a time, for norms of any order.
#pragma once

#include "vector.h"

namespace kernels {
namespace {

constexpr double kDoubleRounder = 0x1.8p52;

INLINE L4 bits_of(D4 value) { return reinterpret_cast<L4>(value); }
INLINE D4 double_of(L4 bits) { return reinterpret_cast<D4>(bits); }

// log2 of positive normal doubles. With m in [1/sqrt2, sqrt2) and s = (m-1)/(m+1),
// ln m = 2 (s + s^3/3 + s^5/5 ...); |s| < 0.172, so nine terms leave 1e-16.
INLINE D4 log2_positive(D4 x) {
  const L4 raised = bits_of(x) - 0x3fe6a09e667f3bcdLL;
  const L4 power = raised >> 52;
  const D4 m = double_of(bits_of(x) - (power << 52));
  const D4 s = (m - 1.0) / (m + 1.0), q = s * s;
  const D4 series =
      ((((((((q / 17.0 + 1.0 / 15) * q + 1.0 / 13) * q + 1.0 / 11) * q + 1.0 / 9) * q + 1.0 / 7) * q + 1.0 / 5) * q +
        1.0 / 3) * q + 1.0);
  const D4 whole = double_of(power + 0x4338000000000000LL) - kDoubleRounder;
  return whole + s * series * 2.8853900817779268147;
}

// 2^t for |t| < 1022: a Taylor polynomial of degree 11 on [-1/2, 1/2], relative error 5e-15.
INLINE D4 exp2_double(D4 t) {
  const D4 shifted = t + kDoubleRounder;
  const D4 r = (t - (shifted - kDoubleRounder)) * 0.69314718055994530942;
  D4 sum = r * (1.0 / 39916800) + 1.0 / 3628800;
  sum = sum * r + 1.0 / 362880;
  sum = sum * r + 1.0 / 40320;
  sum = sum * r + 1.0 / 5040;
  sum = sum * r + 1.0 / 720;
  sum = sum * r + 1.0 / 120;
  sum = sum * r + 1.0 / 24;
  sum = sum * r + 1.0 / 6;
  sum = sum * r + 0.5;
  sum = sum * r + 1.0;
  sum = sum * r + 1.0;
  const L4 power = bits_of(shifted) - 0x4338000000000000LL;
  return sum * double_of((power + 1023) << 52);
}

// magnitude^order for magnitudes of float32 values; zero, infinity and NaN as pow has them.
INLINE D4 raise(D4 magnitude, double order) {
  const D4 nothing = D4{}, infinite = nothing + __builtin_inf();
  D4 t = log2_positive(magnitude) * order;
  t = t < -1021.0 ? nothing - 1021.0 : t;
  const D4 at_zero = order > 0 ? nothing : infinite, at_infinity = order > 0 ? infinite : nothing;
  D4 result = t > 1021.0 ? infinite : exp2_double(t > 1021.0 ? nothing : t);
  result = magnitude == 0.0 ? at_zero : result;
  result = magnitude == infinite ? at_infinity : result;
  return magnitude == magnitude ? result : magnitude;
}

}  // namespace
}  // namespace kernels
