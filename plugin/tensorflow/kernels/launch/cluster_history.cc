#include "plugin/tensorflow/kernels/launch/cluster_history.h"

#include <algorithm>

namespace hpu {

void ClusterHistory::CountRecipe(double compile_seconds) {
  recipes_.fetch_add(1, std::memory_order_relaxed);
  absl::MutexLock lock(&mutex_);
  longest_compile_seconds_ = std::max(longest_compile_seconds_, compile_seconds);
}

ClusterCounts ClusterHistory::CountMiss(ExecutableTable::Entry& entry, const KernelArguments& arguments) {
  ClusterCounts counts;
  counts.recipes = recipes_.load(std::memory_order_relaxed);
  counts.executions = executions_.load(std::memory_order_relaxed);
  counts.fallbacks = entry.CountFallback() - 1;
  counts.scheduled = entry.scheduled();
  absl::MutexLock lock(&mutex_);
  counts.longest_compile_seconds = longest_compile_seconds_;
  if (counts.fallbacks == 0) changes_.Add(arguments.Describe());
  return counts;
}

std::string ClusterHistory::MostFrequentChange(const std::vector<std::string>& names) const {
  absl::MutexLock lock(&mutex_);
  return changes_.MostFrequent(names);
}

}  // namespace hpu
