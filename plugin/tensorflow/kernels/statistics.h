// Statistics: counters of compilations, launches and CPU fallbacks in this process.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_STATISTICS_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_STATISTICS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "hpu/report/v1/report.pb.h"
#include "plugin/tensorflow/kernels/compile_policy.h"

namespace hpu {

// Counters of one cluster. Launches update the counters without a lock.
struct ClusterCounters {
  std::string name;
  int64_t ops = 0;        // nodes of the cluster
  int64_t arguments = 0;  // including constants
  int64_t constants = 0;  // arguments known at compile time
  std::atomic<int64_t> recipes{0};
  std::atomic<int64_t> compile_microseconds{0};
  std::atomic<int64_t> lowering_microseconds{0};
  std::atomic<int64_t> argument_bytes{0};  // size of the latest recipe's arguments
  std::atomic<int64_t> recipe_bytes{0};    // serialised size of all recipes of the cluster
  std::atomic<int64_t> launches{0};
  std::atomic<int64_t> fallbacks{0};
  std::array<std::atomic<int64_t>, kRules.size()> fallback_reasons{};  // fallbacks by Rule
  std::atomic<int64_t> fallback_bytes{0};                              // copied between host and device
  std::atomic<int64_t> padded_launches{0};                             // launches of bounded recipes
  std::atomic<int64_t> changing_bytes{0};                              // Executable::changing_bytes of all launches
  std::atomic<int64_t> padded_bytes{0};                                // Executable::padded_bytes of all launches
  std::string changing_size;                                           // guarded by the mutex of Statistics
};

struct EagerCounters {
  std::atomic<int64_t> recipes{0};
  std::atomic<int64_t> compile_microseconds{0};
  std::atomic<int64_t> launches{0};
  std::atomic<int64_t> host_runs{0};
  std::atomic<int64_t> host_bytes{0};
};

// Process-wide; never destroyed. VLOG(1) logs the table when the process ends. Thread safe.
class Statistics {
 public:
  static Statistics& Get();

  // Counters of the cluster `name`. Clusters with the same name and number of ops share counters. Never freed.
  ClusterCounters* Cluster(absl::string_view name, int64_t ops, int64_t arguments, int64_t constants);
  // Sets the text about the size that changes most often.
  void SetChangingSize(ClusterCounters* cluster, std::string text) ABSL_LOCKS_EXCLUDED(mutex_);
  EagerCounters& eager() { return eager_; }

  // The counters of hpu_statistics, described in docs/user/python.md.
  report::v1::Statistics Read() const;
  // The clusters that were compiled or ran, one per line, as docs/user/logging.md shows.
  std::string ToTable() const;
  // Sets all counters to zero; clusters stay.
  void Reset();

 private:
  mutable absl::Mutex mutex_;
  std::deque<ClusterCounters> clusters_ ABSL_GUARDED_BY(mutex_);
  EagerCounters eager_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_STATISTICS_H_
