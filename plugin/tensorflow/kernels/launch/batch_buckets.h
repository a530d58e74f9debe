// BatchBuckets: TF_ENABLE_DYNAMIC_SHAPES. A few recipes for all numbers of rows that a cluster is given.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_BATCH_BUCKETS_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_BATCH_BUCKETS_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "plugin/compiler/compile.h"
#include "plugin/compiler/dynamic_shapes/padded_recipe.h"
#include "plugin/recipes/signature.h"

namespace hpu {

// The smallest size of a recipe for so many rows: powers of two and one and a half times these (1, 2, 3, 4, 6, 8, 12,
// ...), so that at most a third of the rows is added. Wants rows > 0.
int64_t BucketSize(int64_t rows);

// Belongs to a cluster, whose kernel may go while it compiles: both own it. Thread safe.
//
// The first two signatures compile for their own shapes. If a third differs from both in one size alone, the same in
// all arguments that differ, this dimension holds rows: from then on each number of rows runs by the recipe of its
// bucket, as long as PaddedRecipe finds the rows independent.
class BatchBuckets {
 public:
  // What is known of the arguments' rows.
  enum class Rows {
    kUnknown,   // no rows, or rows that depend on each other
    kKnown,     // there is a bucket for them, without a recipe yet
    kCompiled,  // whose recipe is there
  };

  // For a signature that has no executable yet; remembers it.
  Rows Look(const std::vector<ArgumentDescription>& arguments) ABSL_LOCKS_EXCLUDED(mutex_);

  // CompileCluster, or an executable of the recipe for the arguments' bucket.
  absl::StatusOr<std::shared_ptr<Executable>> Compile(hal::Device& device, const ClusterSource& source,
                                                      const std::vector<ArgumentDescription>& arguments,
                                                      const std::atomic<bool>* cancelled) ABSL_LOCKS_EXCLUDED(mutex_);

  // Why rows are not padded; empty if they are, or if nothing was tried.
  std::string refusal() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Inputs and the dimensions of these, in ascending order.
  using Dimensions = std::vector<std::pair<int, int>>;

  struct Bucket {
    int64_t rows = 0;  // of the arguments
    std::shared_ptr<PaddedRecipe> recipe;
  };

  // In which sizes the two differ; none unless these are the same in all of them.
  static Dimensions Difference(const std::vector<ArgumentDescription>& a, const std::vector<ArgumentDescription>& b);
  // Where the arguments have their rows; none if that is not known.
  Dimensions RowsOf(const std::vector<ArgumentDescription>& arguments) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::optional<Bucket> FindBucket(const std::vector<ArgumentDescription>& arguments)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Refuse(const ClusterSource& source, const absl::Status& reason) ABSL_LOCKS_EXCLUDED(mutex_);

  mutable absl::Mutex mutex_;
  std::deque<std::vector<ArgumentDescription>> seen_ ABSL_GUARDED_BY(mutex_);  // the latest signatures
  // By the signature of the padded arguments.
  absl::flat_hash_map<Signature, std::shared_ptr<PaddedRecipe>> buckets_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<const hal::Recipe*> recipes_ ABSL_GUARDED_BY(mutex_);  // of the cluster's executables
  int refusals_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string refusal_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_BATCH_BUCKETS_H_
