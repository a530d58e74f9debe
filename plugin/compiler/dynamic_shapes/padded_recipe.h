// PaddedRecipe: a recipe shared by signatures of a cluster that differ only in their number of rows.
#ifndef HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_PADDED_RECIPE_H_
#define HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_PADDED_RECIPE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "plugin/compiler/compile_task.h"
#include "plugin/compiler/executable.h"
#include "plugin/compiler/lowering.h"
#include "plugin/hal/device.h"

namespace hpu {

// Lowered at first use; compiled once a signature fits. Thread safe.
class PaddedRecipe {
 public:
  // `arguments` are a signature's arguments with `rows` rows, the recipe's number of rows.
  PaddedRecipe(std::vector<ArgumentDescription> arguments, int64_t rows)
      : arguments_(std::move(arguments)), rows_(rows) {}

  // Whether the recipe is compiled. A fitting signature then only needs lowering.
  bool compiled() const { return compiled_.load(std::memory_order_acquire); }

  // Makes an executable for arguments with `rows` rows: at least half, and at most all, of the recipe's number of rows.
  // Launches pad the arguments and drop the padding of the results. Fails with FAILED_PRECONDITION, and the reason, if
  // padding could change a result. Possible reasons: rows depend on each other or on the number of rows
  // (row_independence.h), or a result's size depends on values.
  absl::StatusOr<std::shared_ptr<Executable>> MakeExecutable(hal::Device& device, const ClusterSource& source,
                                                             const std::vector<ArgumentDescription>& arguments,
                                                             int64_t rows, const std::atomic<bool>* cancelled)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  absl::StatusOr<std::shared_ptr<Executable>> Make(hal::Device& device, const ClusterSource& source,
                                                   const std::vector<ArgumentDescription>& arguments, int64_t rows,
                                                   const CompileTask& task) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status LowerOnce(const ClusterSource& source) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::vector<ArgumentDescription> arguments_;
  const int64_t rows_;
  std::atomic<bool> compiled_{false};
  absl::Mutex mutex_;  // held while the recipe is lowered, checked and compiled
  std::optional<Lowered> lowered_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const hal::Recipe> recipe_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_PADDED_RECIPE_H_
