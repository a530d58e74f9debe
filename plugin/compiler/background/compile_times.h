// CompileTimes: how long earlier compiles of a cluster took.
#ifndef HPU_PLUGIN_COMPILER_BACKGROUND_COMPILE_TIMES_H_
#define HPU_PLUGIN_COMPILER_BACKGROUND_COMPILE_TIMES_H_

#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace hpu {

// Thread safe.
class CompileTimes {
 public:
  // The process-wide object; never destroyed.
  static CompileTimes& Get();

  // Returns the time of the last Set in this process. Otherwise returns the time of code generation from the cluster's
  // newest entry in the recipe cache's directory (TF_RECIPE_CACHE_PATH). Reads a few hundred bytes of each entry.
  std::optional<absl::Duration> Find(const std::string& cluster) ABSL_LOCKS_EXCLUDED(mutex_);
  void Set(const std::string& cluster, absl::Duration time) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, absl::Duration> times_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_BACKGROUND_COMPILE_TIMES_H_
