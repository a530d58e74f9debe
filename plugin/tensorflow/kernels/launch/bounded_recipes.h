// BoundedRecipes: a few recipes that serve all sizes of a cluster's arguments.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_BOUNDED_RECIPES_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_BOUNDED_RECIPES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "hpu/recipe/v1/notes.pb.h"
#include "plugin/base/containers/lru_map.h"
#include "plugin/compiler/bounded_recipe.h"
#include "plugin/compiler/compile.h"
#include "plugin/recipes/signature.h"
#include "plugin/tensorflow/kernels/launch/faster_way.h"
#include "plugin/tensorflow/kernels/launch/size_history.h"

namespace hpu {

// Belongs to a cluster. The cluster's kernel may be destroyed during a compilation, so the kernel and the compilation
// share ownership. Thread safe.
class BoundedRecipes {
 public:
  // The sizes that share a recipe. Thread safe.
  class Bucket {
   public:
    Bucket(BoundedArguments arguments, uint64_t fingerprint)
        : recipe_(std::move(arguments)), fingerprint_(fingerprint) {}

    BoundedRecipe& recipe() { return recipe_; }
    uint64_t fingerprint() const { return fingerprint_; }  // of the range of sizes, equal in all processes
    // Whether a background compilation is queued or running. SetScheduled returns the previous value.
    bool scheduled() const { return scheduled_.load(std::memory_order_relaxed); }
    bool SetScheduled(bool scheduled) { return scheduled_.exchange(scheduled, std::memory_order_relaxed); }
    // Whether an earlier process has stored the recipe. True once, for one lookup.
    bool TakeStored() { return stored_.exchange(false, std::memory_order_relaxed); }
    void SetStored() { stored_.store(true, std::memory_order_relaxed); }
    // Time that executions of all signatures of the bucket have taken on the CPU.
    double cpu_seconds() const { return 1e-6 * static_cast<double>(cpu_microseconds_.load(std::memory_order_relaxed)); }
    int64_t cpu_runs() const { return cpu_runs_.load(std::memory_order_relaxed); }
    void AddCpuTime(absl::Duration time, int64_t runs = 1) {
      cpu_microseconds_.fetch_add(absl::ToInt64Microseconds(time), std::memory_order_relaxed);
      cpu_runs_.fetch_add(runs, std::memory_order_relaxed);
    }
    // Which way its signatures run. Created at the first call; null if none has run on the CPU until then.
    std::shared_ptr<FasterWay> Way() ABSL_LOCKS_EXCLUDED(mutex_);

   private:
    BoundedRecipe recipe_;
    const uint64_t fingerprint_;
    std::atomic<bool> scheduled_{false};
    std::atomic<bool> stored_{false};
    std::atomic<int64_t> cpu_microseconds_{0};
    std::atomic<int64_t> cpu_runs_{0};
    absl::Mutex mutex_;
    std::optional<std::shared_ptr<FasterWay>> way_ ABSL_GUARDED_BY(mutex_);
  };

  // The bucket of a signature that has no executable yet, or null: no size is known to change, or bounded recipes were
  // refused too often. Notes the signature.
  std::shared_ptr<Bucket> Find(const std::vector<ArgumentDescription>& arguments) ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns an executable of the bucket's recipe, which is compiled at the first call, or only loaded, as
  // CompileCluster does. A failure counts as a refusal, except for sizes for which the program fails.
  absl::StatusOr<std::shared_ptr<Executable>> Compile(hal::Device& device, const ClusterSource& source,
                                                      const std::vector<ArgumentDescription>& arguments,
                                                      const std::atomic<bool>* cancelled, bool only_stored,
                                                      Bucket& bucket) ABSL_LOCKS_EXCLUDED(mutex_);

  // Writes sizes, buckets and refusals to the notes. Returns whether any size has changed.
  bool Save(recipe::v1::ClusterNotes* notes) const ABSL_LOCKS_EXCLUDED(mutex_);
  // Begins with what an earlier process has learned. Call before Find.
  void Load(const recipe::v1::ClusterNotes& notes) ABSL_LOCKS_EXCLUDED(mutex_);

  // Latest reason for a refusal; empty if there was none.
  std::string refusal() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Signature of the bounds; the symbols' ranges, and the symbol and offset of each number.
  using Key = std::pair<recipes::Signature, std::vector<int64_t>>;
  using BucketNotes = recipe::v1::ClusterNotes::Bucket;

  static constexpr size_t kBuckets = 250;  // more: those used longest ago are dropped

  static Key KeyOf(const BoundedArguments& arguments);
  static uint64_t FingerprintOf(const Key& key);
  std::shared_ptr<Bucket> MakeBucket(BoundedArguments arguments, uint64_t fingerprint)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Refuse(const ClusterSource& source, const absl::Status& reason) ABSL_LOCKS_EXCLUDED(mutex_);

  mutable absl::Mutex mutex_;
  SizeHistory history_ ABSL_GUARDED_BY(mutex_);
  LruMap<Key, Bucket> buckets_ ABSL_GUARDED_BY(mutex_){kBuckets};
  absl::flat_hash_map<uint64_t, BucketNotes> earlier_ ABSL_GUARDED_BY(mutex_);  // of earlier processes, by fingerprint
  int refusals_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string refusal_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_BOUNDED_RECIPES_H_
