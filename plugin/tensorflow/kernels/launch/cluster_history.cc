#include "plugin/tensorflow/kernels/launch/cluster_history.h"

namespace hpu {

ClusterCounts ClusterHistory::CountMiss(ExecutableTable::Entry& entry,
                                        const std::vector<ArgumentDescription>& arguments) {
  ClusterCounts counts;
  counts.recipes = recipes_.load(std::memory_order_relaxed);
  counts.executions = executions_.load(std::memory_order_relaxed);
  counts.fallbacks = entry.CountFallback() - 1;
  counts.scheduled = entry.scheduled();
  counts.cpu_seconds = entry.cpu_seconds();
  absl::MutexLock lock(&mutex_);
  if (counts.fallbacks == 0) changes_.Add(arguments);
  return counts;
}

std::string ClusterHistory::MostFrequentChange(const std::vector<std::string>& names) const {
  absl::MutexLock lock(&mutex_);
  return changes_.MostFrequent(names);
}

}  // namespace hpu
