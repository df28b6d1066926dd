// Measures what this processor reaches at its best, with one pinned thread per CPU given.
//
//   cpu_probe SECONDS CPU,CPU,... L1_BYTES L2_BYTES LLC_BYTES    (bytes of one core's L1 and L2, 0 for none)
//
// Kernels run in turn for SECONDS, so that each is tried all over that time; the best try counts, because
// neighbours on the machine only ever slow one down. Prints one JSON object; rates are per second and over
// all threads. Bytes count what is read plus what is written.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
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
using Clock = std::chrono::steady_clock;

static double now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

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

static uint64_t control(int rounds) {
  uint64_t state = 88172645463325252ull;
  for (int i = 0; i < rounds; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
  }
  return state;
}

// A team of pinned threads that run one piece of work together; `run` gives its wall time.
class Team {
 public:
  explicit Team(std::vector<int> cpus) : cpus_(std::move(cpus)) {
    for (size_t i = 0; i < cpus_.size(); ++i) threads_.emplace_back([this, i] { loop(i); });
  }
  ~Team() {
    stop_ = true;
    turn_++;
    for (auto& thread : threads_) thread.join();
  }
  size_t size() const { return cpus_.size(); }
  double run(const std::function<void(size_t)>& work) {
    work_ = &work;
    arrived_ = 0;
    starts_.assign(size(), 0);
    ends_.assign(size(), 0);
    left_ = int(size());
    turn_++;
    while (left_ > 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
    return *std::max_element(ends_.begin(), ends_.end()) - *std::min_element(starts_.begin(), starts_.end());
  }

 private:
  void loop(size_t index) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpus_[index], &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    for (int seen = 0;;) {
      while (turn_ == seen) std::this_thread::sleep_for(std::chrono::microseconds(20));
      seen = turn_;
      if (stop_) return;
      arrived_++;
      while (arrived_ < int(size())) {
      }
      starts_[index] = now();
      (*work_)(index);
      ends_[index] = now();
      left_--;
    }
  }
  std::vector<int> cpus_;
  std::vector<std::thread> threads_;
  std::vector<double> starts_, ends_;
  const std::function<void(size_t)>* work_ = nullptr;
  std::atomic<int> turn_{0}, arrived_{0}, left_{0};
  std::atomic<bool> stop_{false};
};

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
