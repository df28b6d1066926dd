// Places an operator's results in the judge's memory: a CPU allocator that gives a request of
// exactly a result's size that result's slot of the current call, and passes on all others.
//
// A slot is taken by one tensor at a time and free again once that tensor is gone. Which call
// is current stands in one integer that the child writes before each call.
#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace {

using State = std::atomic<unsigned char>;

void release(void* data);

class Arena final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t size) override {
    const int64_t call = current_call;
    const int64_t request = call >= 0 && call < calls_ && has_slot_size(size) ? begin_request(call) : -1;
    if (request >= 0) {
      if (char* const data = take(call, size, request)) {
        note(request, data);
        return {data, data, &release, c10::Device(c10::DeviceType::CPU)};
      }
    }
    try {
      c10::DataPtr elsewhere = fallback_->allocate(size);
      if (request >= 0) {
        note(request, elsewhere.get());
      }
      return elsewhere;
    } catch (...) {
      refused = 1;
      throw;
    }
  }

  // Libraries below torch (oneDNN) allocate without a tensor and free by address alone.
  c10::DeleterFnPtr raw_deleter() const override {
    return &release;
  }

  void free(char* data) {
    const int64_t place = base_ == nullptr || data < base_ ? -1 : data - base_;
    if (place < 0 || place >= calls_ * stride_) {
      fallback_->raw_deallocate(data);
      return;
    }
    for (size_t slot = 0; slot < sizes_.size(); ++slot) {
      if (offsets_[slot] == place % stride_ && sizes_[slot] > 0) {
        states_[place / stride_ * sizes_.size() + slot].store(0, std::memory_order_release);
        return;
      }
    }
  }

  void copy_data(void* to, const void* from, std::size_t size) const override {
    default_copy_data(to, from, size);
  }

  void install() {
    fallback_ = c10::GetCPUAllocator();
    c10::SetCPUAllocator(this, 1);
  }

  void lay_out(char* base, int64_t calls, int64_t stride, const int64_t* offsets, const int64_t* sizes, int64_t slots) {
    base_ = base;
    stride_ = stride;
    offsets_.assign(offsets, offsets + slots);
    sizes_.assign(sizes, sizes + slots);
    states_ = std::make_unique<State[]>(static_cast<size_t>(calls * slots));
    learned_.clear();
    calls_ = calls;
  }

  // After a call of the warm-up: `results` are where its results lie, in the order of the slots. From now on
  // the slots go to those requests of a call that became results in this one, and the operator's temporaries
  // to the heap, where freed memory is warm. Nothing depends on it but where results lie.
  void learn(const int64_t* results, int64_t count) {
    const int64_t requests = requests_.exchange(0);
    learned_.clear();
    if (requests > kNoted) {
      return;
    }
    learned_.assign(static_cast<size_t>(requests), -1);
    for (int64_t slot = 0; slot < count; ++slot) {
      for (int64_t request = requests - 1; request >= 0; --request) {
        if (noted_[request].load() == results[slot]) {
          learned_[request] = slot;
          break;
        }
      }
    }
  }

  volatile int64_t current_call = -1;
  volatile int64_t refused = 0;

 private:
  static constexpr int64_t kNoted = 256;

  bool has_slot_size(size_t size) const {
    return size > 0 && std::find(sizes_.begin(), sizes_.end(), size) != sizes_.end();
  }

  // The how manieth request of a slot's size this is in the current call.
  int64_t begin_request(int64_t call) {
    if (counted_call_.exchange(call) != call) {
      requests_.store(0);
    }
    return requests_.fetch_add(1);
  }

  void note(int64_t request, const void* data) {
    if (request < kNoted) {
      noted_[request].store(reinterpret_cast<int64_t>(data));
    }
  }

  char* take(int64_t call, size_t size, int64_t request) {
    if (!learned_.empty()) {
      const int64_t slot = request < static_cast<int64_t>(learned_.size()) ? learned_[request] : -1;
      return slot >= 0 ? take_slot(call, size, static_cast<size_t>(slot)) : nullptr;
    }
    for (size_t slot = 0; slot < sizes_.size(); ++slot) {
      if (char* const data = take_slot(call, size, slot)) {
        return data;
      }
    }
    return nullptr;
  }

  char* take_slot(int64_t call, size_t size, size_t slot) {
    unsigned char unused = 0;
    State& state = states_[call * sizes_.size() + slot];
    if (sizes_[slot] != size || !state.compare_exchange_strong(unused, 1, std::memory_order_acquire)) {
      return nullptr;
    }
    return base_ + call * stride_ + offsets_[slot];
  }

  c10::Allocator* fallback_ = nullptr;
  char* base_ = nullptr;
  int64_t calls_ = 0;
  int64_t stride_ = 0;
  std::vector<int64_t> offsets_;
  std::vector<uint64_t> sizes_;
  std::unique_ptr<State[]> states_;
  std::vector<int64_t> learned_;
  std::atomic<int64_t> counted_call_{-1};
  std::atomic<int64_t> requests_{0};
  std::array<std::atomic<int64_t>, kNoted> noted_{};
};

// Never destroyed: tensors may outlive every static object.
Arena& arena() {
  static Arena* const only = new Arena;
  return *only;
}

void release(void* data) {
  arena().free(static_cast<char*>(data));
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) void hap_arena_install() {
  arena().install();
}

__attribute__((visibility("default"))) void hap_arena_lay_out(
    void* base, int64_t calls, int64_t stride, const int64_t* offsets, const int64_t* sizes, int64_t slots) {
  arena().lay_out(static_cast<char*>(base), calls, stride, offsets, sizes, slots);
}

__attribute__((visibility("default"))) void hap_arena_learn(const int64_t* results, int64_t count) {
  arena().learn(results, count);
}

__attribute__((visibility("default"))) volatile int64_t* hap_arena_current_call() {
  return &arena().current_call;
}

__attribute__((visibility("default"))) volatile int64_t* hap_arena_refused() {
  return &arena().refused;
}
}
