// Measures what this processor reaches at its best, with one pinned thread per CPU given.
//
//   cpu_probe SECONDS CPU,CPU,... L1_BYTES L2_BYTES LLC_BYTES    (bytes of one core's L1 and L2, 0 for none)
//
// Kernels run in turn for SECONDS, so that each is tried all over that time; the best try counts, because
// neighbours on the machine only ever slow one down. Prints one JSON object; rates are per second and over
// all threads. Bytes count what is read plus what is written.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <sys/mman.h>

#include "cpu_probe_kernels.h"
#include "cpu_probe_team.h"

static uint64_t control(int rounds) {
  uint64_t state = 88172645463325252ull;
  for (int i = 0; i < rounds; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
  }
  return state;
}

static char* reserve(size_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) {
    std::fprintf(stderr, "no memory for a buffer of %zu bytes\n", bytes);
    std::exit(1);
  }
  madvise(at, bytes, MADV_HUGEPAGE);
  std::memset(at, 0, bytes);
  return static_cast<char*>(at);
}

struct Trial {
  std::string key;
  std::function<double()> once;  // one try: work per second
  std::vector<double> rates;
};

struct Mix {
  const char* name;
  int arrays;
  void (*kernel)(const Slice&, int);
  bool far, near;  // tried in main memory, in the caches
};
static const Mix kMixes[] = {
    {"read", 1, read<1>, true, true},
    {"read2", 2, read<2>, true, false},
    {"read4", 4, read<4>, true, true},
    {"fill_streamed", 1, move<0, stream>, true, false},
    {"copy", 2, move<1, stream>, true, false},
    {"triad", 3, move<2, stream>, true, false},
    {"quad", 4, move<3, stream>, true, false},
    {"fill_cached", 1, move<0, store>, false, true},
    {"copy_cached", 2, move<1, store>, true, true},
    {"triad_cached", 3, move<2, store>, false, true},
};

// Vectors per array where `bytes` hold so many arrays, each a little apart from the next.
static size_t vectors_of(size_t bytes, int arrays) {
  return (bytes / arrays - kApart) / kWidth / kUnroll * kUnroll;
}

static Slice slice_at(char* base, int arrays, size_t n) {
  Slice slice{{}, n};
  for (int a = 0; a < arrays; ++a) slice.arrays[a] = reinterpret_cast<Floats*>(base + a * (n * kWidth + kApart));
  return slice;
}

// One pass over a far footprint, chunk by chunk in a fresh random order, as a timed pool is walked: what the
// cache happens to keep of it counts.
static double move_far(Team& team, char* memory, const Mix& mix, size_t footprint) {
  const size_t share = footprint / team.size() / 4096 * 4096, chunk = size_t(1) << 20;
  std::vector<size_t> order(share / chunk);
  for (size_t i = 0; i < order.size(); ++i) order[i] = i * chunk;
  std::shuffle(order.begin(), order.end(), std::mt19937_64(std::random_device{}()));
  const size_t n = vectors_of(chunk, mix.arrays);
  double seconds = team.run([&](size_t index) {
    for (size_t start : order) mix.kernel(slice_at(memory + index * share + start, mix.arrays, n), 1);
  });
  return double(n) * kWidth * mix.arrays * order.size() * team.size() / seconds;
}

// Many passes over a footprint that lies in a cache, after one that brings it there.
static double move_near(Team& team, char* memory, const Mix& mix, size_t footprint) {
  const size_t part = footprint / team.size() / 4096 * 4096;
  const size_t n = vectors_of(part, mix.arrays);
  const double moved = double(n) * kWidth * mix.arrays * team.size();
  auto passes = [&](int count) {
    return team.run([&, count](size_t index) {
      mix.kernel(slice_at(memory + index * part, mix.arrays, n), count);
    });
  };
  passes(1);
  const int count = int(std::max(1.0, (64 << 20) / moved));
  return moved * count / passes(count);
}

static void add_memory(std::vector<Trial>& trials, Team& team, char* memory, const char* level, size_t footprint) {
  const bool far = std::string(level) == "memory";
  for (const Mix& mix : kMixes) {
    if (far ? !mix.far : !mix.near) continue;
    trials.push_back({std::string(level) + "." + mix.name,
                      [&team, &mix, memory, footprint, far] {
                        return far ? move_far(team, memory, mix, footprint) : move_near(team, memory, mix, footprint);
                      },
                      {}});
  }
}

template <typename V, int Fused, int Added>
static void add_arithmetic(std::vector<Trial>& trials, Team& team, const char* key) {
  trials.push_back({key,
                    [&team] {
                      std::vector<double> done(team.size());
                      double s = team.run([&](size_t i) { done[i] = arithmetic<V, Fused, Added>(200000); });
                      double total = 0;
                      for (double part : done) total += part;
                      return total / s;
                    },
                    {}});
}

static std::vector<int> numbers(const char* text) {
  std::vector<int> found;
  for (const char* at = text; *at;) {
    char* end;
    found.push_back(int(std::strtol(at, &end, 10)));
    at = *end ? end + 1 : end;
  }
  return found;
}

static void print(const std::vector<Trial>& trials) {
  std::printf("{\"vector_bytes\": %d, \"tries\": {", kWidth);
  for (size_t t = 0; t < trials.size(); ++t) {
    std::printf("%s\"%s\": [", t ? ", " : "", trials[t].key.c_str());
    for (size_t i = 0; i < trials[t].rates.size(); ++i) std::printf("%s%.6g", i ? ", " : "", trials[t].rates[i]);
    std::printf("]");
  }
  std::printf("}}\n");
}

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: cpu_probe SECONDS CPU,CPU,... L1_BYTES L2_BYTES LLC_BYTES\n");
    return 2;
  }
  const double seconds = std::atof(argv[1]);
  Team team(numbers(argv[2]));
  const size_t l1 = std::strtoull(argv[3], nullptr, 10), l2 = std::strtoull(argv[4], nullptr, 10);
  const size_t llc = std::strtoull(argv[5], nullptr, 10), far = 4 * llc;
  char* memory = reserve(far + (team.size() + 1) * 4096);

  std::vector<Trial> trials;
  trials.push_back({"control",
                    [&team] {
                      return 1e6 / team.run([](size_t) {
                        uint64_t state = control(1000000);
                        keep(state);
                      });
                    },
                    {}});
  add_memory(trials, team, memory, "memory", far);
  add_memory(trials, team, memory, "llc", llc / 2);
  if (l2) add_memory(trials, team, memory, "l2", l2 / 2 * team.size());
  if (l1) add_memory(trials, team, memory, "l1", l1 / 2 * team.size());
  add_arithmetic<Floats, 12, 0>(trials, team, "b32.fused");
  add_arithmetic<Floats, 8, 6>(trials, team, "b32.mixed");
  add_arithmetic<Floats, 0, 14>(trials, team, "b32.added");
  add_arithmetic<Doubles, 12, 0>(trials, team, "b64.fused");
  add_arithmetic<Doubles, 8, 6>(trials, team, "b64.mixed");
  add_arithmetic<Doubles, 0, 14>(trials, team, "b64.added");
#if defined(__AVX512FP16__)
  add_arithmetic<Simd<_Float16>::type, 12, 0>(trials, team, "b16.fused");
  add_arithmetic<Simd<_Float16>::type, 8, 6>(trials, team, "b16.mixed");
#endif
  const double end = now() + seconds;
  for (int round = 0; round < 3 || now() < end; ++round)
    for (Trial& trial : trials) trial.rates.push_back(trial.once());
  print(trials);
  return 0;
}
