// ClusterHistory: a cluster's past compilations and executions, for the compile policy.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_CLUSTER_HISTORY_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_CLUSTER_HISTORY_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "plugin/compiler/lowering.h"
#include "plugin/tensorflow/kernels/compile_policy.h"
#include "plugin/tensorflow/kernels/launch/executable_table.h"
#include "plugin/tensorflow/kernels/launch/shape_changes.h"

namespace hpu {

// Covers all signatures. A background compilation may outlive the kernel, so the compilation and the kernel share
// ownership. Thread safe. CountExecution acquires no lock.
class ClusterHistory {
 public:
  void CountExecution() { executions_.fetch_add(1, std::memory_order_relaxed); }
  void CountRecipe() { recipes_.fetch_add(1, std::memory_order_relaxed); }

  // Counts an execution of the entry's signature without a recipe, and returns counts for the policy, without those of
  // CompiledSignatures. On the first such execution, keeps the arguments for MostFrequentChange().
  ClusterCounts CountMiss(ExecutableTable::Entry& entry, const std::vector<ArgumentDescription>& arguments)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // See ShapeChanges::MostFrequent.
  std::string MostFrequentChange(const std::vector<std::string>& names) const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  std::atomic<int64_t> executions_{0};
  std::atomic<int64_t> recipes_{0};
  mutable absl::Mutex mutex_;
  ShapeChanges changes_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_CLUSTER_HISTORY_H_
