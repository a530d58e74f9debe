// BatchBuckets: a few padded recipes that serve all batch sizes of a cluster (TF_ENABLE_DYNAMIC_SHAPES).
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

// Size of the smallest bucket for `rows` rows. Sizes are 2^n and 3 * 2^n: 1, 2, 3, 4, 6, 8, 12, and so on. Less than a
// third of a bucket's rows is padding. Requires rows > 0.
int64_t BucketSize(int64_t rows);

// Belongs to a cluster. The cluster's kernel may be destroyed during a compilation, so the kernel and the compilation
// share ownership. Thread safe.
//
// The first two signatures compile for their own shapes. A later signature may differ from two of the last 16
// signatures in a single size, which may occur in several arguments. The dimensions that differ then hold rows. Each
// number of rows then runs with the recipe of its bucket, if PaddedRecipe finds the rows independent.
class BatchBuckets {
 public:
  // State of the bucket for the arguments' rows.
  enum class Rows {
    kUnknown,   // no row dimension is known, there are no rows, or padding was refused too often
    kKnown,     // a bucket exists, but has no recipe yet
    kCompiled,  // the bucket has its recipe
  };

  // Classifies a signature that has no executable yet, and stores the signature.
  Rows Lookup(const std::vector<ArgumentDescription>& arguments) ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns an executable of the bucket's recipe, or compiles a recipe for the arguments' own shapes (CompileCluster).
  absl::StatusOr<std::shared_ptr<Executable>> Compile(hal::Device& device, const ClusterSource& source,
                                                      const std::vector<ArgumentDescription>& arguments,
                                                      const std::atomic<bool>* cancelled) ABSL_LOCKS_EXCLUDED(mutex_);

  // Latest reason why rows were not padded; empty if padding was never refused.
  std::string refusal() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Pairs of an input and one of its dimensions, in ascending order.
  using Dimensions = std::vector<std::pair<int, int>>;

  struct Bucket {
    int64_t rows = 0;  // of the arguments
    std::shared_ptr<PaddedRecipe> recipe;
  };

  // The dimensions in which `a` and `b` differ. Empty unless all these dimensions have one size in `a` and one size in
  // `b`, and nothing else differs.
  static Dimensions Difference(const std::vector<ArgumentDescription>& a, const std::vector<ArgumentDescription>& b);
  // The arguments' row dimensions; empty if unknown.
  Dimensions RowsOf(const std::vector<ArgumentDescription>& arguments) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::optional<Bucket> FindBucket(const std::vector<ArgumentDescription>& arguments)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Refuse(const ClusterSource& source, const absl::Status& reason) ABSL_LOCKS_EXCLUDED(mutex_);

  mutable absl::Mutex mutex_;
  std::deque<std::vector<ArgumentDescription>> seen_ ABSL_GUARDED_BY(mutex_);  // the latest signatures
  // Buckets by the signature of the padded arguments.
  absl::flat_hash_map<recipes::Signature, std::shared_ptr<PaddedRecipe>> buckets_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<const hal::Recipe*> recipes_ ABSL_GUARDED_BY(mutex_);  // recipes of the cluster's executables
  int refusals_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string refusal_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_BATCH_BUCKETS_H_
