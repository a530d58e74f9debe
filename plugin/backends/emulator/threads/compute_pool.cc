#include "plugin/backends/emulator/threads/compute_pool.h"

#include <algorithm>

#include "plugin/backends/emulator/threads/compute_threads.h"
#include "plugin/backends/emulator/threads/op_device.h"
#include "plugin/base/flags/flags.h"
#include "tsl/platform/cpu_info.h"
#include "tsl/platform/threadpool.h"
#include "unsupported/Eigen/CXX11/Tensor"

namespace hpu::emulator {

ComputePool::ComputePool(int threads)
    : threads_(std::max(1, threads)),
      compute_threads_(std::make_unique<ComputeThreads>(threads_)),
      pool_(std::make_unique<tsl::thread::ThreadPool>(compute_threads_.get())),
      device_(std::make_unique<Eigen::ThreadPoolDevice>(compute_threads_.get(), threads_)),
      op_device_(std::make_unique<OpDevice>(pool_.get(), device_.get())) {}

ComputePool::~ComputePool() = default;

common::AdaptiveSpin& ComputePool::finish_spin() const { return compute_threads_->finish_spin(); }

int ComputePool::DefaultThreads() {
  // Upper limit, in case of a mistyped setting.
  constexpr int64_t kMaxThreads = 1024;
  int64_t threads = flags::EmulatorThreads();
  if (threads <= 0) threads = tsl::port::NumSchedulableCPUs();
  return static_cast<int>(std::clamp<int64_t>(threads, 1, kMaxThreads));
}

}  // namespace hpu::emulator
