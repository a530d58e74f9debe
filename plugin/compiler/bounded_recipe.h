// BoundedRecipe: a recipe shared by signatures of a cluster that differ in symbolic sizes only.
#ifndef HPU_PLUGIN_COMPILER_BOUNDED_RECIPE_H_
#define HPU_PLUGIN_COMPILER_BOUNDED_RECIPE_H_

#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "plugin/compiler/bounded_arguments.h"
#include "plugin/compiler/compile_task.h"
#include "plugin/compiler/executable.h"
#include "plugin/compiler/lowering.h"
#include "plugin/hal/device.h"

namespace hpu {

// Lowered and compiled at first use. Arrays have the bounds as their sizes; XLA's dynamic padder masks the elements
// past the true sizes, so results equal those of a recipe for the true sizes, up to the rounding of sums. Thread safe.
class BoundedRecipe {
 public:
  explicit BoundedRecipe(BoundedArguments arguments) : arguments_(std::move(arguments)) {}

  // Whether the recipe is compiled. A further signature then only needs its result sizes computed.
  bool compiled() const { return compiled_.load(std::memory_order_acquire); }

  // Makes an executable for arguments whose symbolic numbers are in the recipe's ranges. Fails with the error of
  // LowerBounded or of the compilation, each time. `only_stored`: as for CompileCluster.
  absl::StatusOr<std::shared_ptr<Executable>> MakeExecutable(hal::Device& device, const ClusterSource& source,
                                                             const std::vector<ArgumentDescription>& arguments,
                                                             const std::atomic<bool>* cancelled, bool only_stored)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  absl::Status Compile(hal::Device& device, const ClusterSource& source, const CompileTask& task)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The values of the symbols for these arguments.
  std::vector<int64_t> SymbolsOf(const std::vector<ArgumentDescription>& arguments) const;

  const BoundedArguments arguments_;
  std::atomic<bool> compiled_{false};
  absl::Mutex mutex_;  // held while the recipe is lowered and compiled, and while sizes are computed
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  std::optional<Lowered> lowered_ ABSL_GUARDED_BY(mutex_);  // with the recipe, once compiled
};

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_BOUNDED_RECIPE_H_
