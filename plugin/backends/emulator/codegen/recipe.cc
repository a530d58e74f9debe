#include "plugin/backends/emulator/codegen/recipe.h"

#include <algorithm>
#include <cfenv>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/backends/emulator/codegen/aligned_block.h"
#include "plugin/backends/emulator/codegen/compiler.h"
#include "plugin/backends/emulator/codegen/recipe_code.h"
#include "plugin/backends/emulator/codegen/recipe_payload.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/status_payloads.h"
#include "tsl/platform/denormal.h"
#include "tsl/platform/setround.h"

namespace hpu::emulator {
namespace {

// XLA assumes that buffers are aligned, to 16 or 64 bytes by its release, and uses the memory of a result up to
// the next multiple of kWorkspaceAlignment.
bool AnyUnaligned(absl::Span<void* const> pointers) {
  uintptr_t bits = 0;
  for (void* pointer : pointers) bits |= reinterpret_cast<uintptr_t>(pointer);
  return bits % kWorkspaceAlignment != 0;
}

// Copies results to the caller's memory. XLA's code leaves a result in other memory if two results are one value, a
// parameter is a result, or an alias is unused. Reads all results before the first write, because one result's
// destination may be the source of another result.
void MoveResults(const std::vector<hal::ResultSpec>& specs, void* const* produced, absl::Span<void* const> wanted) {
  std::vector<std::pair<size_t, AlignedBlock>> moved;
  for (size_t i = 0; i < specs.size(); ++i) {
    if (produced[i] == wanted[i] || specs[i].spec.bytes == 0) continue;
    moved.emplace_back(i, AlignedBlock(specs[i].spec.bytes));
    std::memcpy(moved.back().second.data(), produced[i], specs[i].spec.bytes);
  }
  for (const auto& [i, copy] : moved) std::memcpy(wanted[i], copy.data(), specs[i].spec.bytes);
}

absl::Status Named(const std::string& name, const absl::Status& status) {
  return Reworded(status, absl::StrCat("recipe '", name, "': ", status.message()));
}

}  // namespace

EmulatorRecipe::EmulatorRecipe(std::string name, RecipeParts parts, RecipeKernels kernels,
                               std::unique_ptr<LoadedCode> code)
    : name_(std::move(name)),
      parts_(std::move(parts)),
      kernels_(std::move(kernels)),
      times_(parts_.profile, name_),
      code_(std::move(code)) {
  code_->AddFunctions(parts_, &kernels_);
}

absl::StatusOr<std::shared_ptr<const EmulatorRecipe>> EmulatorRecipe::Create(std::string name, RecipeParts parts) {
  absl::StatusOr<std::unique_ptr<LoadedCode>> code = LoadedCode::Load(parts);
  if (!code.ok()) return Named(name, code.status());
  absl::StatusOr<RecipeKernels> kernels = RecipeKernels::Make(parts.kernels);
  if (!kernels.ok()) return Named(name, kernels.status());
  return std::shared_ptr<const EmulatorRecipe>(
      new EmulatorRecipe(std::move(name), std::move(parts), *std::move(kernels), *std::move(code)));
}

absl::StatusOr<std::string> EmulatorRecipe::Serialize() const { return SerializeParts(parts_, CompilerTarget()); }

uint64_t EmulatorRecipe::serialized_bytes() const { return SerializedSize(parts_, CompilerTarget()); }

absl::Status EmulatorRecipe::Run(absl::Span<void* const> arguments, absl::Span<void* const> results, void* workspace,
                                 ComputePool& pool) const {
  if (arguments.size() != parts_.table.arguments.size() || results.size() != parts_.table.results.size()) {
    return absl::InvalidArgumentError(absl::StrCat("recipe '", name_, "': expected ", parts_.table.arguments.size(),
                                                   " arguments and ", parts_.table.results.size(), " results, got ",
                                                   arguments.size(), " and ", results.size()));
  }
  if (AnyUnaligned(arguments) || AnyUnaligned(results)) return RunUnaligned(arguments, results, workspace, pool);
  void* const* produced = nullptr;
  absl::Status status = Call(arguments, results, workspace, pool, &produced);
  if (status.ok() && !std::equal(results.begin(), results.end(), produced)) {
    MoveResults(parts_.table.results, produced, results);
  }
  return status;
}

absl::Status EmulatorRecipe::Call(absl::Span<void* const> arguments, absl::Span<void* const> results, void* workspace,
                                  ComputePool& pool, void* const** produced) const {
  // Kept per thread, so that not every launch allocates.
  thread_local CodeTables tables;
  absl::Status done;
  {
    // Same floating-point mode as in the threads that run XLA's own executables.
    tsl::port::ScopedFlushDenormal flush;
    tsl::port::ScopedSetRound round(FE_TONEAREST);
    RecipeKernels::Scope scope(kernels_, pool, static_cast<char*>(workspace) + FunctionWorkspaceOffset(parts_));
    times_.Measure([&](int64_t* counters) {
      done = tables.Call(code_->entry(), parts_.slots, results.size(),
                         {arguments.data(), results.data(), workspace, pool}, counters);
    });
  }
  *produced = tables.produced();
  return done.ok() ? done : Named(name_, done);
}

absl::Status EmulatorRecipe::RunUnaligned(absl::Span<void* const> arguments, absl::Span<void* const> results,
                                          void* workspace, ComputePool& pool) const {
  std::vector<AlignedBlock> blocks;
  std::vector<void*> aligned_arguments;
  std::vector<void*> aligned_results;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const uint64_t bytes = parts_.table.arguments[i].bytes;
    blocks.emplace_back(bytes);
    if (bytes > 0) std::memcpy(blocks.back().data(), arguments[i], bytes);
    aligned_arguments.push_back(blocks.back().data());
  }
  for (const hal::ResultSpec& result : parts_.table.results) {
    if (result.aliased_argument >= 0) {
      aligned_results.push_back(aligned_arguments[result.aliased_argument]);
      continue;
    }
    blocks.emplace_back(result.spec.bytes);
    aligned_results.push_back(blocks.back().data());
  }
  void* const* produced = nullptr;
  absl::Status status = Call(aligned_arguments, aligned_results, workspace, pool, &produced);
  if (!status.ok()) return status;
  for (size_t i = 0; i < results.size(); ++i) {
    const uint64_t bytes = parts_.table.results[i].spec.bytes;
    if (bytes > 0) std::memcpy(results[i], produced[i], bytes);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const EmulatorRecipe>> CompileRecipe(const hal::Program& program) {
  absl::StatusOr<RecipeParts> parts = CompileParts(program);
  if (!parts.ok()) return Named(program.name, parts.status());
  return EmulatorRecipe::Create(program.name, *std::move(parts));
}

absl::StatusOr<std::string> CompileToBytes(const hal::Program& program) {
  const absl::StatusOr<RecipeParts> parts = CompileParts(program);
  if (!parts.ok()) return Named(program.name, parts.status());
  return SerializeParts(*parts, CompilerTarget());
}

absl::StatusOr<std::shared_ptr<const EmulatorRecipe>> LoadRecipe(absl::string_view name, absl::string_view bytes) {
  HPU_ASSIGN_OR_RETURN(RecipeParts parts, ParseParts(name, bytes, CompilerTarget()));
  return EmulatorRecipe::Create(std::string(name), std::move(parts));
}

}  // namespace hpu::emulator
