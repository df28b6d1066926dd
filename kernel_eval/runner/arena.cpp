// Places an operator's results in the judge's memory: a CPU allocator that gives a request of
// exactly a result's size that result's slot of the current call, and passes on all others.
//
// A slot is taken by one tensor at a time and free again once that tensor is gone. Which call
// is current stands in one integer that the child writes before each call.
#include <c10/core/CPUAllocator.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace {

using State = std::atomic<unsigned char>;

void release(void* state) {
  static_cast<State*>(state)->store(0, std::memory_order_release);
}

class Arena final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t size) override {
    const int64_t call = current_call;
    if (size > 0 && call >= 0 && call < calls_) {
      for (size_t slot = 0; slot < sizes_.size(); ++slot) {
        State& state = states_[call * sizes_.size() + slot];
        unsigned char unused = 0;
        if (sizes_[slot] == size && state.compare_exchange_strong(unused, 1, std::memory_order_acquire)) {
          return {base_ + call * stride_ + offsets_[slot], &state, &release, c10::Device(c10::DeviceType::CPU)};
        }
      }
    }
    try {
      return fallback_->allocate(size);
    } catch (...) {
      refused = 1;
      throw;
    }
  }

  c10::DeleterFnPtr raw_deleter() const override {
    return nullptr;
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
    calls_ = calls;
  }

  volatile int64_t current_call = -1;
  volatile int64_t refused = 0;

 private:
  c10::Allocator* fallback_ = nullptr;
  char* base_ = nullptr;
  int64_t calls_ = 0;
  int64_t stride_ = 0;
  std::vector<int64_t> offsets_;
  std::vector<uint64_t> sizes_;
  std::unique_ptr<State[]> states_;
};

// Never destroyed: tensors may outlive every static object.
Arena& arena() {
  static Arena* const only = new Arena;
  return *only;
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

__attribute__((visibility("default"))) volatile int64_t* hap_arena_current_call() {
  return &arena().current_call;
}

__attribute__((visibility("default"))) volatile int64_t* hap_arena_refused() {
  return &arena().refused;
}
}
