// FasterWay: the faster of two ways to run a cluster: on the HPU, or on the CPU.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_FASTER_WAY_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_FASTER_WAY_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "hpu/recipe/v1/notes.pb.h"

namespace hpu {

// Tries both ways a few times in turns, and then chooses the one that took less time. A way that takes much longer is
// tried less often. Tries the other way again now and then, because sizes and recipes change, and less and less often
// while the choice stays. Thread safe.
class FasterWay {
 public:
  enum Way { kHpu, kCpu };  // a recipe, or the recipes of the cluster's parts, on the HPU; or the whole on the CPU

  FasterWay() = default;
  // For a cluster that has run on the CPU, `cpu_mean` for each run.
  explicit FasterWay(absl::Duration cpu_mean);

  struct Choice {
    Way way;
    bool is_trial;  // the time of this run is wanted
  };
  Choice Next() ABSL_LOCKS_EXCLUDED(mutex_);
  void Add(Way way, absl::Duration time) ABSL_LOCKS_EXCLUDED(mutex_);
  // For a way that cannot run the cluster.
  void Exclude(Way way) ABSL_LOCKS_EXCLUDED(mutex_);

  // Writes the times to the notes, if both ways were tried. Returns whether they were.
  bool Save(recipe::v1::ClusterNotes* notes) ABSL_LOCKS_EXCLUDED(mutex_);
  void Load(const recipe::v1::ClusterNotes& notes) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Times {
    int64_t runs = 0;
    absl::Duration mean;  // later runs count more
  };

  static constexpr int64_t kRunsOfChoice = 64;  // before the other way is tried again for the first time

  bool IsTried(Way way) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Mutex mutex_;
  Times times_[2] ABSL_GUARDED_BY(mutex_);
  Way faster_ ABSL_GUARDED_BY(mutex_) = kHpu;                  // of the last choice
  int64_t pause_ ABSL_GUARDED_BY(mutex_) = kRunsOfChoice;      // runs between trials of the other way
  int64_t runs_left_ ABSL_GUARDED_BY(mutex_) = kRunsOfChoice;  // before the next trial
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_FASTER_WAY_H_
