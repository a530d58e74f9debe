// LearnedCluster: what a cluster's runs have taught: compile times, sizes that change, and the faster way to run.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_LEARNED_CLUSTER_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_LEARNED_CLUSTER_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "plugin/hal/device.h"
#include "plugin/passes/functions/function_identity.h"
#include "plugin/recipes/entry.h"
#include "plugin/tensorflow/kernels/launch/bounded_recipes.h"
#include "plugin/tensorflow/kernels/launch/compiled_signatures.h"
#include "plugin/tensorflow/kernels/launch/faster_way.h"

namespace hpu {

// The recipe cache keeps notes of it (TF_RECIPE_CACHE_PATH), so that the next process begins with them. Only clusters
// whose sizes change, or that were split, have notes. A compilation may outlive the kernel, so both share ownership.
// Thread safe.
class LearnedCluster {
 public:
  // The object of a cluster. `cluster`: name of its function; `arguments`: their number.
  static std::shared_ptr<LearnedCluster> Make(const std::string& cluster, int arguments,
                                              const passes::FunctionIdentity& identity);
  ~LearnedCluster();

  CompiledSignatures& signatures() { return *signatures_; }
  const std::shared_ptr<BoundedRecipes>& bounded_recipes() { return bounded_recipes_; }
  FasterWay& split_times() { return split_times_; }

  // Reads the notes, at the first call. Call before any other use.
  void Load(const hal::Device& device) ABSL_LOCKS_EXCLUDED(mutex_);
  // Writes the notes if they have changed. Does nothing before Load.
  void Save() ABSL_LOCKS_EXCLUDED(mutex_);
  // Saves all objects: for the end of the process.
  static void SaveAll();

 private:
  LearnedCluster(const std::string& cluster, int arguments, const passes::FunctionIdentity& identity);

  const std::string cluster_;
  const std::string subject_;
  const std::shared_ptr<CompiledSignatures> signatures_;
  const std::shared_ptr<BoundedRecipes> bounded_recipes_ = std::make_shared<BoundedRecipes>();
  FasterWay split_times_;
  absl::Mutex mutex_;
  std::optional<recipes::Key> key_ ABSL_GUARDED_BY(mutex_);  // of the notes, once loaded
  std::string notes_ ABSL_GUARDED_BY(mutex_);                // as loaded or saved last
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_LEARNED_CLUSTER_H_
