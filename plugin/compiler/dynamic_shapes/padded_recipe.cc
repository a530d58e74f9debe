#include "plugin/compiler/dynamic_shapes/padded_recipe.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "plugin/base/log/log.h"
#include "plugin/compiler/background/compile_progress.h"
#include "plugin/compiler/compile.h"
#include "plugin/compiler/compile_task.h"
#include "plugin/compiler/dynamic_shapes/row_independence.h"
#include "plugin/compiler/recipe_cache.h"
#include "tsl/platform/errors.h"
#include "tsl/platform/statusor.h"

namespace hpu {
namespace {

using Output = Executable::Output;
using Update = Executable::Update;

absl::Status Depends(absl::string_view what) {
  return absl::FailedPreconditionError(absl::StrCat(what, " depends on the number of rows"));
}

// Fails with FAILED_PRECONDITION unless the executables differ only in the number of rows.
absl::Status CheckFit(const Executable& executable, const Executable& padded) {
  if (executable.sizes > 0 || padded.sizes > 0) {
    return absl::FailedPreconditionError("the size of a result depends on the values of the arguments");
  }
  const auto same_output = [](const Output& a, const Output& b) {
    return a.kind == b.kind && a.result == b.result && a.input == b.input;
  };
  const auto same_variable = [](const Update& a, const Update& b) {
    return a.input == b.input && a.result == b.result;
  };
  const auto same_shape = [](const Update& a, const Update& b) { return a.shape == b.shape; };
  if (executable.argument_inputs != padded.argument_inputs) return Depends("the list of arguments");
  if (!absl::c_equal(executable.outputs, padded.outputs, same_output)) return Depends("the list of results");
  if (!absl::c_equal(executable.updates, padded.updates, same_variable)) {
    return Depends("the list of assigned variables");
  }
  if (!absl::c_equal(executable.updates, padded.updates, same_shape)) {
    return Depends("the shape of an assigned variable");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status PaddedRecipe::LowerOnce(const ClusterSource& source) {
  if (lowered_) return absl::OkStatus();
  TF_ASSIGN_OR_RETURN(lowered_, Lower(source, arguments_));
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Executable>> PaddedRecipe::MakeExecutable(
    hal::Device& device, const ClusterSource& source, const std::vector<ArgumentDescription>& arguments, int64_t rows,
    const std::atomic<bool>* cancelled) {
  CompileProgress::Scope progress(CompileProgress::Get(), source.name, CountOps(source), cancelled);
  absl::StatusOr<std::shared_ptr<Executable>> executable =
      Make(device, source, arguments, rows, CompileTask{cancelled, &progress});
  progress.SetOutcome(executable.status());
  return executable;
}

absl::StatusOr<std::shared_ptr<Executable>> PaddedRecipe::Make(hal::Device& device, const ClusterSource& source,
                                                               const std::vector<ArgumentDescription>& arguments,
                                                               int64_t rows, const CompileTask& task) {
  const absl::Time start = absl::Now();
  TF_RETURN_IF_ERROR(task.Enter("lowering"));
  TF_ASSIGN_OR_RETURN(Lowered lowered, Lower(source, arguments));
  auto executable = std::make_shared<Executable>(std::move(lowered.executable));
  executable->lowering_seconds = absl::ToDoubleSeconds(absl::Now() - start);
  if (Computes(*executable)) {
    absl::MutexLock lock(&mutex_);
    executable->padded = rows < rows_;
    TF_RETURN_IF_ERROR(LowerOnce(source));
    executable->lowering_seconds = absl::ToDoubleSeconds(absl::Now() - start);
    if (executable->padded) {
      TF_RETURN_IF_ERROR(CheckFit(*executable, lowered_->executable));
      TF_RETURN_IF_ERROR(CheckRowIndependence(lowered.program, lowered_->program, {rows, rows_}));
    }
    if (recipe_ == nullptr) {
      TF_ASSIGN_OR_RETURN(recipe_, RecipeCache::Get().FindOrCompile(device, lowered_->program, task));
      compiled_.store(true, std::memory_order_release);
    }
    TF_RETURN_IF_ERROR(SetRecipe(recipe_, executable.get()));
  }
  executable->compile_seconds = absl::ToDoubleSeconds(absl::Now() - start);
  HPU_LOG(kCompiler, kInfo) << source.name << ": pads " << rows << " rows to " << rows_ << ", ready after "
                            << executable->compile_seconds << " s";
  return executable;
}

}  // namespace hpu
