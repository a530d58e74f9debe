// ComputePool: thread pool for the emulator's computations.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_THREADS_COMPUTE_POOL_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_THREADS_COMPUTE_POOL_H_

#include <memory>

#include "plugin/backends/common/spin.h"

namespace Eigen {
struct ThreadPoolDevice;
}  // namespace Eigen
namespace tsl::thread {
class ThreadPool;
}  // namespace tsl::thread

namespace hpu::emulator {

class ComputeThreads;
class OpDevice;

// Recipes split their loops over the pool's threads. The threads flush denormals, like TensorFlow's threads, so that
// results do not depend on the thread. A thread of the pool must not run a recipe, because the thread would wait for
// itself. Thread safe.
class ComputePool {
 public:
  explicit ComputePool(int threads = DefaultThreads());
  ~ComputePool();

  ComputePool(const ComputePool&) = delete;
  ComputePool& operator=(const ComputePool&) = delete;

  const Eigen::ThreadPoolDevice* device() const { return device_.get(); }
  tsl::thread::ThreadPool* workers() const { return pool_.get(); }
  // Controls how long callers spin while they wait for the threads to finish.
  common::AdaptiveSpin& finish_spin() const;
  // Device for TensorFlow's CPU kernels, on the same threads.
  OpDevice* op_device() const { return op_device_.get(); }
  int threads() const { return threads_; }

  // HPU_EMULATOR_THREADS if positive, else the number of CPUs that this process may use; from 1 to 1024. Compilation
  // splits loops into at most this many parts.
  static int DefaultThreads();

 private:
  const int threads_;
  const std::unique_ptr<ComputeThreads> compute_threads_;
  const std::unique_ptr<tsl::thread::ThreadPool> pool_;  // uses compute_threads_, like the members below
  const std::unique_ptr<Eigen::ThreadPoolDevice> device_;
  const std::unique_ptr<OpDevice> op_device_;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_THREADS_COMPUTE_POOL_H_
