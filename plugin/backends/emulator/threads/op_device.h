// OpDevice: the device that TensorFlow's CPU kernels see when a recipe calls them.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_THREADS_OP_DEVICE_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_THREADS_OP_DEVICE_H_

#include <cstddef>
#include <memory>

#include "absl/types/span.h"
#include "tensorflow/core/framework/device_base.h"
#include "tsl/platform/threadpool.h"

namespace hpu::emulator {

// Gives kernels the threads of a pool, and for their results the memory that the recipe has for them. Thread safe.
class OpDevice final : public tensorflow::DeviceBase {
 public:
  static constexpr int kMaxResults = 8;

  // `threads` and `device`, which is over the same threads, must outlive this. Both null make a device on which kernels
  // can be constructed, not run.
  OpDevice(tsl::thread::ThreadPool* threads, Eigen::ThreadPoolDevice* device);

  tensorflow::Allocator* GetAllocator(tensorflow::AllocatorAttributes attributes) override;

  // By which a kernel is told to allocate result `index`.
  static tensorflow::AllocatorAttributes ResultAttributes(int index);

  struct Memory {
    void* data = nullptr;
    size_t bytes = 0;
  };
  // While it lives, results that kernels allocate on this thread lie in `results`, at most kMaxResults.
  class ResultScope {
   public:
    explicit ResultScope(absl::Span<const Memory> results);
    ~ResultScope();
    ResultScope(const ResultScope&) = delete;
    ResultScope& operator=(const ResultScope&) = delete;
  };

 private:
  CpuWorkerThreads workers_;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_THREADS_OP_DEVICE_H_
