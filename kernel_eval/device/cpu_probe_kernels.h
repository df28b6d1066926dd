// What is measured: kernels that move memory and kernels that compute, on vectors of the machine's width.
#pragma once

#include <cstddef>
#include <cstring>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
constexpr int kWidth = 64;
#elif defined(__AVX__)
constexpr int kWidth = 32;
#else
constexpr int kWidth = 16;
#endif
template <typename T>
struct Simd {
  typedef T type __attribute__((vector_size(kWidth)));
};
using Floats = Simd<float>::type;
using Doubles = Simd<double>::type;

static inline void stream(Floats* at, Floats value) {
#if defined(__AVX512F__)
  _mm512_stream_ps(reinterpret_cast<float*>(at), (__m512)value);
#elif defined(__AVX__)
  _mm256_stream_ps(reinterpret_cast<float*>(at), (__m256)value);
#elif defined(__SSE2__)
  _mm_stream_ps(reinterpret_cast<float*>(at), (__m128)value);
#else
  *at = value;
#endif
}
static inline void store(Floats* at, Floats value) { *at = value; }
static inline void fence() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}
template <typename V>
static inline void keep(V& value) {
  asm volatile("" : "+m"(value) : : "memory");
}

// Memory kernels: `from` counts the arrays read, `into` whether one is written. `n` vectors per array.
struct Slice {
  Floats* arrays[4];
  size_t n;
};
constexpr int kUnroll = 8;
constexpr size_t kApart = 1024;  // arrays start so many bytes off a page's multiple: equal offsets would collide

template <int From>
static inline Floats gather(const Slice& s, size_t i) {
  Floats value = s.arrays[0][i];
  if (From > 1) value += s.arrays[1][i];
  if (From > 2) value += s.arrays[2][i];
  return value;
}

// Reads `From` arrays side by side: several streams keep more loads in flight than one.
template <int From>
static void read(const Slice& s, int passes) {
  Floats sums[kUnroll] = {};
  for (int pass = 0; pass < passes; ++pass)
    for (size_t i = 0; i + kUnroll / From <= s.n; i += kUnroll / From)
      for (int u = 0; u < kUnroll / From; ++u)
        for (int a = 0; a < From; ++a) sums[u * From + a] += s.arrays[a][i + u];
  for (auto& sum : sums) keep(sum);
}

template <int From, void (*Put)(Floats*, Floats)>
static void move(const Slice& s, int passes) {
  Floats constant = {};
  keep(constant);
  for (int pass = 0; pass < passes; ++pass) {
    for (size_t i = 0; i + 4 <= s.n; i += 4)
      for (int u = 0; u < 4; ++u) Put(&s.arrays[From][i + u], From ? gather<From>(s, i + u) : constant);
    asm volatile("" : : : "memory");
  }
  fence();
}

// Arithmetic kernels: lane operations done, a fused multiply-add counted as two.
template <typename V, int Fused, int Added>
static double arithmetic(int rounds) {
  V factor, term, fused[Fused ? Fused : 1], added[Added ? Added : 1];
  std::memset(&factor, 0, sizeof(V));
  std::memset(&term, 0, sizeof(V));
  std::memset(fused, 0, sizeof fused);
  std::memset(added, 0, sizeof added);
  keep(factor);
  keep(term);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < Fused; ++i) fused[i] = fused[i] * factor + term;
    for (int i = 0; i < Added; ++i) added[i] = added[i] + term;
  }
  for (auto& value : fused) keep(value);
  for (auto& value : added) keep(value);
  return double(rounds) * (2 * Fused + Added) * (sizeof(V) / sizeof(V{}[0]));
}
