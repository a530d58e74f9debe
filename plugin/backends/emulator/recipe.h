// EmulatorRecipe: a program compiled for the CPU, and how it is run.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_RECIPE_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_RECIPE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "plugin/backends/emulator/compute_pool.h"
#include "plugin/hal/recipe.h"

namespace hpu::emulator {

class EmulatorRecipe : public hal::Recipe {
 public:
  // Runs on the calling thread with the help of `pool`. Pointers are to the data, one per argument and result; null
  // only where the size is 0. Thread safe.
  virtual absl::Status Run(absl::Span<void* const> arguments, absl::Span<void* const> results, void* workspace,
                           ComputePool& pool) const = 0;
};

absl::StatusOr<std::shared_ptr<const EmulatorRecipe>> CompileRecipe(const hal::Program& program);
absl::StatusOr<std::shared_ptr<const EmulatorRecipe>> LoadRecipe(absl::string_view name, absl::string_view bytes);
// What recipes depend on.
std::string CompilerTarget();

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_RECIPE_H_
