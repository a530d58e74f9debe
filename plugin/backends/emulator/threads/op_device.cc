#include "plugin/backends/emulator/threads/op_device.h"

#include <cstdint>
#include <string>

#include "tensorflow/core/framework/allocator.h"
#include "unsupported/Eigen/CXX11/Tensor"

namespace hpu::emulator {
namespace {

// TensorFlow leaves the upper bits of AllocatorAttributes::value to devices.
constexpr int kResultShift = 24;

thread_local absl::Span<const OpDevice::Memory> current_results;

bool IsResult(const void* data) {
  for (const OpDevice::Memory& memory : current_results) {
    if (memory.data == data) return true;
  }
  return false;
}

// Allocates a kernel's result in the recipe's memory. Allocates new memory for requests that do not fit, because a
// kernel may allocate more than its result.
class ResultAllocator final : public tensorflow::Allocator {
 public:
  explicit ResultAllocator(size_t index) : index_(index) {}

  std::string Name() override { return "hpu_emulator_result"; }

  void* AllocateRaw(size_t alignment, size_t bytes) override {
    if (index_ < current_results.size()) {
      const OpDevice::Memory& memory = current_results[index_];
      if (bytes <= memory.bytes && reinterpret_cast<uintptr_t>(memory.data) % alignment == 0) return memory.data;
    }
    return tensorflow::cpu_allocator()->AllocateRaw(alignment, bytes);
  }

  void DeallocateRaw(void* data) override {
    if (!IsResult(data)) tensorflow::cpu_allocator()->DeallocateRaw(data);
  }

 private:
  const size_t index_;
};

}  // namespace

OpDevice::OpDevice(tsl::thread::ThreadPool* threads, Eigen::ThreadPoolDevice* device)
    : DeviceBase(tsl::Env::Default()) {
  if (threads == nullptr) return;
  workers_.num_threads = threads->NumThreads();
  workers_.workers = threads;
  set_tensorflow_cpu_worker_threads(&workers_);
  set_eigen_cpu_device(device);
}

tensorflow::Allocator* OpDevice::GetAllocator(tensorflow::AllocatorAttributes attributes) {
  static auto* results = [] {
    auto* made = new ResultAllocator*[kMaxResults];
    for (int i = 0; i < kMaxResults; ++i) made[i] = new ResultAllocator(i);
    return made;
  }();
  const uint32_t result = attributes.value >> kResultShift;
  if (result == 0 || result > kMaxResults) return tensorflow::cpu_allocator();
  return results[result - 1];
}

tensorflow::AllocatorAttributes OpDevice::ResultAttributes(int index) {
  tensorflow::AllocatorAttributes attributes;
  attributes.value = static_cast<uint32_t>(index + 1) << kResultShift;
  return attributes;
}

OpDevice::ResultScope::ResultScope(absl::Span<const Memory> results) { current_results = results; }

OpDevice::ResultScope::~ResultScope() { current_results = {}; }

}  // namespace hpu::emulator
