// CompiledSignatures: the signatures for which a cluster, in any trace of its function, has recipes.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_COMPILED_SIGNATURES_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_COMPILED_SIGNATURES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "plugin/compiler/lowering.h"
#include "plugin/passes/functions/function_identity.h"
#include "plugin/tensorflow/kernels/compile_policy.h"

namespace hpu {

// TensorFlow traces a function again for new shapes, and the clusters of each trace have kernels of their own. So the
// policy asks here whether shapes are new to a function. Background compilations use the object too. Thread safe.
class CompiledSignatures {
 public:
  // Of all clusters with this name, number of arguments and hash of op types (FunctionIdentity::ops).
  static std::shared_ptr<CompiledSignatures> Of(const std::string& cluster, int arguments,
                                                const passes::FunctionIdentity& identity);

  // Notes a recipe of the trace with this content.
  void Add(uint64_t content, const std::vector<ArgumentDescription>& arguments, double compile_seconds)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Notes a compile time of an earlier process.
  void AddCompileTime(double seconds) ABSL_LOCKS_EXCLUDED(mutex_);
  double longest_compile_seconds() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Sets is_first, is_known and longest_compile_seconds. On the signature's first execution also sets may_be_stored:
  // stored recipes are looked up until a few were not found, because a lookup takes as long as lowering the cluster.
  void Count(uint64_t content, const std::vector<ArgumentDescription>& arguments, ClusterCounts* counts)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  static constexpr int kMissingLookups = 3;

  mutable absl::Mutex mutex_;
  int missing_ ABSL_GUARDED_BY(mutex_) = 0;  // lookups without success, including those that have not ended
  double longest_compile_seconds_ ABSL_GUARDED_BY(mutex_) = 0;
  // Hashes of the shapes of variables with a recipe. A model of another size has a first signature of its own.
  absl::flat_hash_set<uint64_t> variables_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<uint64_t> signatures_ ABSL_GUARDED_BY(mutex_);  // hashes of contents and signatures with a recipe
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_COMPILED_SIGNATURES_H_
