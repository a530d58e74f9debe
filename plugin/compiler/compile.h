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

// Lowers the cluster and finds or compiles its recipe. Takes up to seconds on the calling thread and shows progress
// (compile_progress.h). Cancelled if `cancelled`, unless null, becomes true between two steps. Thread safe.
absl::StatusOr<std::shared_ptr<Executable>> CompileCluster(hal::Device& device, const ClusterSource& source,
                                                           const std::vector<ArgumentDescription>& arguments,
                                                           const std::atomic<bool>* cancelled = nullptr);

// Number of the cluster's nodes.
int64_t CountOps(const ClusterSource& source);

// False if all results are constants or passed through: then there is no recipe.
bool Computes(const Executable& executable);

// Sets the recipe of an executable that computes. Internal if the recipe and the executable differ in their number of
// arguments.
absl::Status SetRecipe(std::shared_ptr<const hal::Recipe> recipe, Executable* executable);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_COMPILE_H_
