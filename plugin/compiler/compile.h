// The way from a cluster to an executable.
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

// Lowers the cluster and finds or compiles its recipe. Takes up to seconds, on the calling thread, and shows its
// progress (compile_progress.h). Cancelled if `cancelled`, if any, has turned true between two steps. Thread safe.
absl::StatusOr<std::shared_ptr<Executable>> CompileCluster(hal::Device& device, const ClusterSource& source,
                                                           const std::vector<ArgumentDescription>& arguments,
                                                           const std::atomic<bool>* cancelled = nullptr);

// The number of its nodes.
int64_t CountOps(const ClusterSource& source);

// False where all results are constants or passed through: there is nothing to run, and no recipe.
bool Computes(const Executable& executable);

// Gives an executable that computes its recipe; Internal if that takes other arguments.
absl::Status SetRecipe(std::shared_ptr<const hal::Recipe> recipe, Executable* executable);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_COMPILE_H_
