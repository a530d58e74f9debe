// Compilation of a cluster to an executable.
#ifndef HPU_PLUGIN_COMPILER_COMPILE_H_
#define HPU_PLUGIN_COMPILER_COMPILE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/compiler/executable.h"
#include "plugin/compiler/lowering.h"
#include "plugin/hal/device.h"

namespace hpu {

// Lowers the cluster and finds or compiles its recipe. Blocks the calling thread, often for seconds, and shows progress
// (compile_progress.h). Fails with CANCELLED if `cancelled` is true when a step begins; null disables cancellation.
// `only_stored`: fails with CANCELLED, too, if the recipe is neither in memory nor stored. Thread safe.
absl::StatusOr<std::shared_ptr<Executable>> CompileCluster(hal::Device& device, const ClusterSource& source,
                                                           const std::vector<ArgumentDescription>& arguments,
                                                           const std::atomic<bool>* cancelled = nullptr,
                                                           bool only_stored = false);

// Number of nodes in the cluster.
int64_t CountOps(const ClusterSource& source);

// Whether the executable needs a recipe. False if the cluster writes no variable and all its outputs are constants or
// passed-through resources.
bool Computes(const Executable& executable);

// Sets the recipe of an executable that needs a recipe, and the aliased arguments of its updates. Fails with INTERNAL
// if the recipe and the executable differ in their number of arguments.
absl::Status SetRecipe(std::shared_ptr<const hal::Recipe> recipe, Executable* executable);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_COMPILE_H_
