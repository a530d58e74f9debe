// ExecutableTable: the executables of one cluster, by signature.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_EXECUTABLE_TABLE_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_EXECUTABLE_TABLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "plugin/base/containers/lru_map.h"
#include "plugin/compiler/executable.h"
#include "plugin/recipes/signature.h"
#include "plugin/tensorflow/kernels/launch/faster_way.h"

namespace hpu {

// Belongs to one kernel, or to all kernels of equal eager nodes. Has at most kCapacity entries: a new signature drops
// the entries that were used longest ago, with their recipes. Entries in use stay. Thread safe. Concurrent lookups do
// not wait for each other.
class ExecutableTable {
 public:
  // The executable and the state of one signature.
  class Entry {
   public:
    // nullptr until compiled.
    const Executable* executable() const { return ready_.load(std::memory_order_acquire); }
    // Which way to run, once there is an executable; null: on the HPU.
    FasterWay* way() const { return way_.get(); }
    // Call in the callback of Compile only.
    void SetWay(std::shared_ptr<FasterWay> way) { way_ = std::move(way); }
    // Whether compilation failed. A failed compilation is not repeated.
    bool failed() const { return failed_.load(std::memory_order_acquire); }
    // The error of the compilation; OK unless failed().
    absl::Status failure() const ABSL_LOCKS_EXCLUDED(mutex_);

    // Compiles, unless an earlier compilation has succeeded or failed. Returns the outcome. CANCELLED is not stored.
    absl::Status Compile(absl::FunctionRef<absl::StatusOr<std::shared_ptr<Executable>>()> compile)
        ABSL_LOCKS_EXCLUDED(mutex_);

    // Counts an execution without a recipe. Returns the number of such executions of this signature, including this
    // one.
    int CountFallback() { return fallbacks_.fetch_add(1, std::memory_order_relaxed) + 1; }
    int fallbacks() const { return fallbacks_.load(std::memory_order_relaxed); }

    // Whether the CPU kernel has raised an error for this signature. A recipe might not raise the error.
    bool raised() const { return raised_.load(std::memory_order_relaxed); }
    void SetRaised() { raised_.store(true, std::memory_order_relaxed); }

    // Time that executions of this signature have taken on the CPU.
    double cpu_seconds() const { return 1e-6 * static_cast<double>(cpu_microseconds_.load(std::memory_order_relaxed)); }
    void AddCpuTime(absl::Duration time) {
      cpu_microseconds_.fetch_add(absl::ToInt64Microseconds(time), std::memory_order_relaxed);
    }

    // Whether a background compilation is scheduled. SetScheduled returns the previous value.
    bool scheduled() const { return scheduled_.load(std::memory_order_relaxed); }
    bool SetScheduled(bool scheduled) { return scheduled_.exchange(scheduled, std::memory_order_relaxed); }

   private:
    mutable absl::Mutex mutex_;  // held while compiling
    std::shared_ptr<const Executable> executable_ ABSL_GUARDED_BY(mutex_);
    absl::Status status_ ABSL_GUARDED_BY(mutex_);
    std::shared_ptr<FasterWay> way_;  // set before ready_
    std::atomic<const Executable*> ready_{nullptr};
    std::atomic<bool> failed_{false};
    std::atomic<int> fallbacks_{0};
    std::atomic<int64_t> cpu_microseconds_{0};
    std::atomic<bool> raised_{false};
    std::atomic<bool> scheduled_{false};
  };

  static constexpr size_t kCapacity = 1000;

  explicit ExecutableTable(size_t capacity = kCapacity) : entries_(capacity) {}

  std::shared_ptr<Entry> FindOrCreate(const recipes::Signature& signature) ABSL_LOCKS_EXCLUDED(mutex_);

  // Number of signatures whose background compilation is queued or running.
  int64_t in_background() const { return in_background_.load(std::memory_order_relaxed); }
  void AddInBackground(int64_t change) { in_background_.fetch_add(change, std::memory_order_relaxed); }

  // Number of entries created. A signature whose entry was dropped counts again.
  int64_t created() const { return created_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> created_{0};
  std::atomic<int64_t> in_background_{0};
  absl::Mutex mutex_;
  LruMap<recipes::Signature, Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_EXECUTABLE_TABLE_H_
