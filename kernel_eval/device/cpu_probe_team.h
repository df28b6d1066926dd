// Threads that work together, each pinned to a CPU of its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include <pthread.h>
#include <sched.h>

using Clock = std::chrono::steady_clock;

static double now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

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
