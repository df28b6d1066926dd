// Eight floats at a time, written with GCC's vector extensions: AVX2, FMA and F16C where the
// including file targets them and defines KERNELS_AVX2, pairs of SSE or NEON registers elsewhere.
// Everything is inlined, so each including file gets its own instruction set.
#pragma once

#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define INLINE [[gnu::always_inline]] inline

namespace kernels {
namespace {

constexpr int64_t kLanes = 8;

using F8 = float __attribute__((vector_size(32)));
using I8 = int32_t __attribute__((vector_size(32)));
using U8 = uint32_t __attribute__((vector_size(32)));
using H8 = uint16_t __attribute__((vector_size(16)));
using B8 = uint8_t __attribute__((vector_size(8)));
using S8 = int8_t __attribute__((vector_size(8)));
using F4 = float __attribute__((vector_size(16)));
using D4 = double __attribute__((vector_size(32)));
using L4 = int64_t __attribute__((vector_size(32)));

struct Float16 {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

INLINE F8 splat(float value) { return F8{} + value; }
INLINE I8 bits_of(F8 value) { return reinterpret_cast<I8>(value); }
INLINE F8 float_of(I8 bits) { return reinterpret_cast<F8>(bits); }
INLINE F8 absolute(F8 x) { return float_of(bits_of(x) & 0x7fffffff); }

// Bounds that let NaN pass: a comparison with NaN is false.
INLINE F8 at_least(F8 x, float low) { return x < low ? splat(low) : x; }
INLINE F8 at_most(F8 x, float high) { return x > high ? splat(high) : x; }

#if defined(KERNELS_AVX2)
INLINE I8 widen_bits(H8 half) { return reinterpret_cast<I8>(_mm256_cvtepu16_epi32(reinterpret_cast<__m128i>(half))); }
#else
INLINE I8 widen_bits(H8 half) { return __builtin_convertvector(half, I8); }
#endif

INLINE F4 low_half(F8 x) { return __builtin_shufflevector(x, x, 0, 1, 2, 3); }
INLINE F4 high_half(F8 x) { return __builtin_shufflevector(x, x, 4, 5, 6, 7); }
INLINE D4 widen(F4 x) { return __builtin_convertvector(x, D4); }
// Keeps a product from being fused with the sum it goes into: where that sum cancels to zero, it shall be zero.
INLINE D4 rounded(D4 x) {
  asm("" : "+m"(x));
  return x;
}
INLINE F8 narrow(D4 low, D4 high) {
  const F4 a = __builtin_convertvector(low, F4), b = __builtin_convertvector(high, F4);
  return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
}

// ---- Half precision -----------------------------------------------------------------

#if defined(KERNELS_AVX2)
INLINE F8 widen_half(H8 half) { return reinterpret_cast<F8>(_mm256_cvtph_ps(reinterpret_cast<__m128i>(half))); }
INLINE H8 narrow_half(F8 x) {
  return reinterpret_cast<H8>(_mm256_cvtps_ph(reinterpret_cast<__m256>(x), _MM_FROUND_TO_NEAREST_INT));
}
#else
// Exponent and mantissa land 13 bits higher; a factor of 2^112 mends the exponent's bias,
// for subnormal halves too. Infinity and NaN get the largest exponent by hand.
INLINE F8 widen_half(H8 half) {
  const I8 wide = widen_bits(half);
  const I8 magnitude = (wide & 0x7fff) << 13;
  const F8 finite = float_of(magnitude) * 0x1p112f;
  const I8 special = magnitude | 0x7f800000;
  const I8 bits = magnitude >= (0x7c00 << 13) ? special : bits_of(finite);
  return float_of(bits | ((wide & 0x8000) << 16));
}
// Round to nearest even: normal halves by an integer addition below the kept bits, subnormal
// ones by a float addition that shifts the mantissa into place.
INLINE H8 narrow_half(F8 x) {
  const I8 sign = bits_of(x) & static_cast<int32_t>(0x80000000);
  const I8 magnitude = bits_of(x) ^ sign;
  const I8 odd = (magnitude >> 13) & 1;
  const I8 normal = (magnitude - (112 << 23) + 0xfff + odd) >> 13;
  const I8 subnormal = bits_of(float_of(magnitude) + 0.5f) - bits_of(splat(0.5f));
  I8 half = magnitude < (113 << 23) ? subnormal : normal;
  half = magnitude >= (143 << 23) ? I8{} + 0x7c00 : half;
  half = magnitude > 0x7f800000 ? I8{} + 0x7e00 : half;
  const U8 sign_bit = reinterpret_cast<U8>(sign) >> 16;
  return __builtin_convertvector(half | reinterpret_cast<I8>(sign_bit), H8);
}
#endif

// ---- Loads --------------------------------------------------------------------------

template <class V>
INLINE V load_bytes(const void* from) {
  V value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

INLINE F8 load(const float* x) { return load_bytes<F8>(x); }
INLINE F8 load(const Float16* x) { return widen_half(load_bytes<H8>(x)); }
INLINE F8 load(const BFloat16* x) { return float_of(widen_bits(load_bytes<H8>(x)) << 16); }
INLINE F8 load(const int8_t* x) { return __builtin_convertvector(__builtin_convertvector(load_bytes<S8>(x), I8), F8); }
INLINE F8 load(const uint8_t* x) { return __builtin_convertvector(__builtin_convertvector(load_bytes<B8>(x), I8), F8); }

// ---- Stores -------------------------------------------------------------------------

template <class T>
struct Packed;
template <>
struct Packed<float> {
  using type = F8;
};
template <>
struct Packed<Float16> {
  using type = H8;
};
template <>
struct Packed<BFloat16> {
  using type = H8;
};

template <class T>
INLINE typename Packed<T>::type pack(F8 x);
template <>
INLINE F8 pack<float>(F8 x) {
  return x;
}
template <>
INLINE H8 pack<Float16>(F8 x) {
  return narrow_half(x);
}
// Round to nearest even by an addition below the kept bits; NaN is kept from becoming infinity.
template <>
INLINE H8 pack<BFloat16>(F8 x) {
  const I8 bits = bits_of(x);
  const I8 rounded = bits + 0x7fff + ((bits >> 16) & 1);
  const I8 kept = x == x ? rounded : I8{} + 0x7fc00000;
  const U8 top = reinterpret_cast<U8>(kept) >> 16;
  return __builtin_convertvector(top, H8);
}

template <class V>
INLINE void store_cached(void* to, V value) {
  std::memcpy(to, &value, sizeof value);
}

#if defined(KERNELS_AVX2)
constexpr bool kCanStream = true;
INLINE void store_streaming(void* to, F8 x) { _mm256_stream_ps(static_cast<float*>(to), reinterpret_cast<__m256>(x)); }
INLINE void store_streaming(void* to, H8 x) {
  _mm_stream_si128(static_cast<__m128i*>(to), reinterpret_cast<__m128i>(x));
}
INLINE void finish_streaming() { _mm_sfence(); }
#else
constexpr bool kCanStream = false;
template <class V>
INLINE void store_streaming(void* to, V value) {
  store_cached(to, value);
}
INLINE void finish_streaming() {}
#endif

// Fewer than eight elements, by way of a buffer.
template <class T>
INLINE F8 load_part(const T* x, int64_t count) {
  T buffer[kLanes] = {};
  std::memcpy(buffer, x, count * sizeof(T));
  return load(buffer);
}
template <class T>
INLINE void store_part(T* y, F8 value, int64_t count) {
  const auto packed = pack<T>(value);
  std::memcpy(y, &packed, count * sizeof(T));
}

}  // namespace
}  // namespace kernels
