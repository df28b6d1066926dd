// Splitting work over torch's own OpenMP threads (both are linked to the same libgomp).
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace kernels {

// Chunks start at multiples of this many elements, so that no two threads share a cache line.
constexpr int64_t kChunkUnit = 64;

// How many threads are worth waking: one per `grain` elements, all of them or none.
inline int threads_for(int64_t count, int64_t grain) {
  return count < 2 * grain || omp_in_parallel() ? 1 : omp_get_max_threads();
}

// Calls `body(begin, end, part)` for consecutive parts of [0, count).
template <class Body>
void in_parallel(int64_t count, int threads, const Body& body) {
  if (threads == 1) {
    body(0, count, 0);
    return;
  }
  const int64_t share = ((count + threads - 1) / threads + kChunkUnit - 1) / kChunkUnit * kChunkUnit;
#pragma omp parallel num_threads(threads)
  {
    // There may be fewer threads than asked for, so each takes parts until none is left.
    for (int64_t part = omp_get_thread_num(); part * share < count; part += omp_get_num_threads())
      body(part * share, std::min(count, (part + 1) * share), static_cast<int>(part));
  }
}

}  // namespace kernels
