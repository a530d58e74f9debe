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
#include "plugin/backends/emulator/codegen/launch_time.h"
#include "plugin/backends/emulator/codegen/loaded_code.h"
#include "plugin/backends/emulator/codegen/recipe_parts.h"
#include "plugin/backends/emulator/codegen/recipe_profile.h"
#include "plugin/backends/emulator/kernels/compiler_target.h"
#include "plugin/backends/emulator/kernels/recipe_kernels.h"
#include "plugin/backends/emulator/threads/compute_pool.h"
#include "plugin/hal/recipe.h"

namespace hpu::emulator {

// Create fails with the errors of LoadedCode::Load and RecipeKernels::Make.
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
  std::vector<hal::LaunchBuffer> buffers() const override { return parts_.buffers; }

  // Time of the launches, which the stream measures.
  LaunchTime& launch_time() const { return launch_time_; }

  // Runs on the pool and on the calling thread, which must not belong to the pool. Pointers are host addresses of the
  // data, one per argument and result; null for 0 bytes. A result may share memory only with the argument that it
  // aliases. `workspace` has workspace_bytes() bytes and is aligned to kWorkspaceAlignment. Thread safe. Runs on
  // copies of all arguments and results if one of them is not aligned to kWorkspaceAlignment.
  // Also copies results that XLA's code leaves in other memory.
  absl::Status Run(absl::Span<void* const> arguments, absl::Span<void* const> results, void* workspace,
                   ComputePool& pool) const;

 private:
  EmulatorRecipe(std::string name, RecipeParts parts, RecipeKernels kernels, std::unique_ptr<LoadedCode> code);

  // Calls the recipe's code and sets `produced` to the results' addresses.
  absl::Status Call(absl::Span<void* const> arguments, absl::Span<void* const> results, void* workspace,
                    ComputePool& pool, void* const** produced) const;
  // Runs on aligned copies of arguments and results, because XLA's code requires alignment.
  absl::Status RunUnaligned(absl::Span<void* const> arguments, absl::Span<void* const> results, void* workspace,
                            ComputePool& pool) const;

  const std::string name_;
  const RecipeParts parts_;
  RecipeKernels kernels_;  // not changed after construction
  mutable InstructionTimes times_;
  mutable LaunchTime launch_time_;
  const std::unique_ptr<LoadedCode> code_;
};

// Compiles and loads a program. The passes run on the calling thread; the code of a program with outlined functions is
// generated on temporary threads. Fails with InvalidArgument for an invalid program and with Unimplemented for features
// that XLA's CPU compiler lacks. Fails with NotFound for custom call targets that are not registered. Thread safe.
absl::StatusOr<std::shared_ptr<const EmulatorRecipe>> CompileRecipe(const hal::Program& program);

// Compiles a program to the bytes that Serialize returns, without loading the code. Errors of loading occur in
// LoadRecipe.
absl::StatusOr<std::string> CompileToBytes(const hal::Program& program);

// Inverse of Serialize. Fails with InvalidArgument for damaged bytes or another format, with FailedPrecondition for
// another target, and with the errors of EmulatorRecipe::Create. Thread safe.
absl::StatusOr<std::shared_ptr<const EmulatorRecipe>> LoadRecipe(absl::string_view name, absl::string_view bytes);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_H_
