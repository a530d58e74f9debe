// Statistics: what this process has compiled, launched and sent to the CPU.
#ifndef HPU_PLUGIN_KERNELS_STATISTICS_H_
#define HPU_PLUGIN_KERNELS_STATISTICS_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace hpu {

// Counters of one cluster. Written by launches without a lock.
struct ClusterCounters {
  std::string name;
  int64_t ops = 0;  // nodes of the cluster
  std::atomic<int64_t> recipes{0};
  std::atomic<int64_t> compile_microseconds{0};
  std::atomic<int64_t> launches{0};
  std::atomic<int64_t> fallbacks{0};
  std::atomic<int64_t> fallback_bytes{0};  // copied between host and device
};

struct EagerCounters {
  std::atomic<int64_t> recipes{0};
  std::atomic<int64_t> compile_microseconds{0};
  std::atomic<int64_t> launches{0};
  std::atomic<int64_t> host_runs{0};
  std::atomic<int64_t> host_bytes{0};
};

// Process-wide; never destroyed. Thread safe.
class Statistics {
 public:
  static Statistics& Get();

  // Counters of the cluster `name`; clusters of one name and size share them. Lives for ever.
  ClusterCounters* Cluster(absl::string_view name, int64_t ops);
  EagerCounters& eager() { return eager_; }

  // As docs/python.md describes the JSON of hpu_statistics.
  std::string ToJson() const;
  // Sets all counters to zero; clusters stay.
  void Reset();

 private:
  mutable absl::Mutex mutex_;
  std::deque<ClusterCounters> clusters_ ABSL_GUARDED_BY(mutex_);
  EagerCounters eager_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_KERNELS_STATISTICS_H_
