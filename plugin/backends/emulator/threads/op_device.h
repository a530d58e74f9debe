// OpDevice: the tensorflow::DeviceBase of the CPU kernels that recipes call.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_THREADS_OP_DEVICE_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_THREADS_OP_DEVICE_H_

#include <cstddef>
#include <memory>

#include "absl/types/span.h"
#include "tensorflow/core/framework/device_base.h"
#include "tsl/platform/threadpool.h"

namespace hpu::emulator {

// Provides kernels with the threads of a pool, and with the recipe's memory for their results. Thread safe.
class OpDevice final : public tensorflow::DeviceBase {
 public:
  static constexpr int kMaxResults = 8;

  // `threads` and `device`, which uses the same threads, must outlive this object. If both are null, kernels can be
  // constructed on this device but not run.
  OpDevice(tsl::thread::ThreadPool* threads, Eigen::ThreadPoolDevice* device);

  tensorflow::Allocator* GetAllocator(tensorflow::AllocatorAttributes attributes) override;

  // The allocator attributes with which a kernel allocates result `index`.
  static tensorflow::AllocatorAttributes ResultAttributes(int index);

  struct Memory {
    void* data = nullptr;
    size_t bytes = 0;
  };
  // While this object exists, kernels on this thread allocate their results (at most kMaxResults) in `results`.
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
