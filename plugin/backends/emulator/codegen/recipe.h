// EmulatorRecipe: a program compiled ahead of time for the CPU, loaded into this process.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "plugin/backends/emulator/codegen/object_loader.h"
#include "plugin/backends/emulator/codegen/recipe_parts.h"
#include "plugin/backends/emulator/codegen/recipe_profile.h"
#include "plugin/backends/emulator/kernels/compiler_target.h"
#include "plugin/backends/emulator/kernels/recipe_kernels.h"
#include "plugin/backends/emulator/threads/compute_pool.h"
#include "plugin/hal/recipe.h"

namespace hpu::emulator {

// Errors of construction are those of LoadedObject::Load and RecipeKernels::Make.
class EmulatorRecipe : public hal::Recipe {
 public:
  static absl::StatusOr<std::shared_ptr<const EmulatorRecipe>> Create(std::string name, RecipeParts parts);

  const std::string& name() const override { return name_; }
  const std::vector<hal::TensorSpec>& arguments() const override { return parts_.table.arguments; }
  const std::vector<hal::ResultSpec>& results() const override { return parts_.table.results; }
  uint64_t workspace_bytes() const override { return WorkspaceBytes(parts_); }
  absl::StatusOr<std::string> Serialize() const override;
  uint64_t serialized_bytes() const override;
  std::vector<hal::InstructionTime> times() const override { return times_.Seconds(); }

  // Runs on the calling thread, which must not belong to the pool, and on the pool. Pointers are host addresses of the
  // data, one per argument and result; null where it has 0 bytes. A result may lie on the argument that it aliases and
  // on no other. `workspace` is workspace_bytes() long, aligned to kWorkspaceAlignment. Thread safe; does not allocate
  // unless a pointer is unaligned (to 16 bytes) or a result is one that XLA puts elsewhere.
  absl::Status Run(absl::Span<void* const> arguments, absl::Span<void* const> results, void* workspace,
                   ComputePool& pool) const;

 private:
  EmulatorRecipe(std::string name, RecipeParts parts, RecipeKernels kernels, std::unique_ptr<LoadedObject> object);

  // Calls the function; `produced` gets the results' addresses.
  absl::Status Call(absl::Span<void* const> arguments, absl::Span<void* const> results, void* workspace,
                    ComputePool& pool, void* const** produced) const;
  // For pointers that XLA's code cannot take: runs on aligned copies.
  absl::Status RunUnaligned(absl::Span<void* const> arguments, absl::Span<void* const> results, void* workspace,
                            ComputePool& pool) const;

  const std::string name_;
  const RecipeParts parts_;
  RecipeKernels kernels_;  // not changed after construction
  mutable ProfileTimes times_;
  const std::unique_ptr<LoadedObject> object_;
};

// Compiles on the calling thread. InvalidArgument for a program that is none, Unimplemented for what XLA's CPU compiler
// lacks, NotFound for unregistered custom calls. Thread safe.
absl::StatusOr<std::shared_ptr<const EmulatorRecipe>> CompileRecipe(const hal::Program& program);

// What Serialize would give of it. Loads nothing into this process: what cannot be loaded, LoadRecipe finds.
absl::StatusOr<std::string> CompileToBytes(const hal::Program& program);

// Takes what Serialize gave. InvalidArgument for damaged bytes or another format, FailedPrecondition for another
// target. Thread safe.
absl::StatusOr<std::shared_ptr<const EmulatorRecipe>> LoadRecipe(absl::string_view name, absl::string_view bytes);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_H_
