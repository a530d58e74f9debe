#include "plugin/compiler/bounded_recipe.h"

#include <cstdint>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "plugin/base/log/log.h"
#include "plugin/base/status_macros.h"
#include "plugin/compiler/background/compile_progress.h"
#include "plugin/compiler/compile.h"
#include "plugin/compiler/dynamic_shapes/size_arithmetic.h"
#include "plugin/compiler/dynamic_shapes/true_shape.h"
#include "plugin/compiler/recipe_cache.h"
#include "xla/literal.h"

namespace hpu {
namespace {

tensorflow::Tensor Int32Vector(const std::vector<int64_t>& values) {
  tensorflow::Tensor vector(tensorflow::DT_INT32, tensorflow::TensorShape({static_cast<int64_t>(values.size())}));
  absl::c_copy(values, vector.flat<int32_t>().data());
  return vector;
}

// Fails with FAILED_PRECONDITION for sizes for which a CPU kernel of the program fails.
absl::Status CheckConditions(const std::vector<int64_t>& symbols, const Lowered& lowered) {
  for (const auto& condition : lowered.conditions) {
    HPU_ASSIGN_OR_RETURN(const xla::Literal holds,
                         condition->Evaluate(std::vector<std::vector<int64_t>>(condition->inputs().size(), symbols)));
    if (holds.Get<bool>({}, {0})) continue;
    return absl::FailedPreconditionError(absl::StrCat("the program fails for sizes such as ",
                                                      absl::StrJoin(symbols, ", "),
                                                      ", for example because an image is smaller than a window"));
  }
  return absl::OkStatus();
}

// Replaces the bounds of the results by their true shapes.
absl::Status SetTrueShapes(const std::vector<int64_t>& symbols, const Lowered& lowered, Executable* executable) {
  if (lowered.result_sizes == nullptr) return absl::OkStatus();
  std::vector<std::vector<int64_t>> inputs(lowered.result_sizes->inputs().size(), symbols);  // one, or none
  HPU_ASSIGN_OR_RETURN(const xla::Literal sizes, lowered.result_sizes->Evaluate(inputs));
  for (Executable::Output& output : executable->outputs) {
    if (output.sizes.empty()) continue;
    HPU_ASSIGN_OR_RETURN(output.shape, TrueShape(output.shape, output.sizes, sizes.data<int32_t>({0})));
    output.sizes.clear();
  }
  return absl::OkStatus();
}

int64_t BytesOf(const ArgumentDescription& argument) {
  return argument.shape.num_elements() * tensorflow::DataTypeSize(argument.dtype);
}

void CountPadding(const BoundedArguments& bounded, const std::vector<ArgumentDescription>& arguments,
                  Executable* executable) {
  int last = -1;
  for (const SymbolicNumber& number : bounded.numbers) {
    if (number.argument == last || arguments[number.argument].kind != ArgumentDescription::Kind::kParameter) continue;
    last = number.argument;
    executable->changing_bytes += BytesOf(arguments[last]);
    executable->padded_bytes += BytesOf(bounded.arguments[last]);
  }
}

}  // namespace

std::vector<int64_t> BoundedRecipe::SymbolsOf(const std::vector<ArgumentDescription>& arguments) const {
  std::vector<int64_t> symbols(arguments_.symbols.size());
  for (const SymbolicNumber& number : arguments_.numbers) {
    symbols[number.symbol] = NumberOf(arguments[number.argument], number.position) - number.offset;
  }
  return symbols;
}

absl::Status BoundedRecipe::Compile(hal::Device& device, const ClusterSource& source, const CompileTask& task) {
  HPU_RETURN_IF_ERROR(failure_);
  const auto compile = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) -> absl::Status {
    HPU_RETURN_IF_ERROR(task.Enter("lowering"));
    const absl::Time start = absl::Now();
    HPU_ASSIGN_OR_RETURN(lowered_, LowerBounded(source, arguments_));
    Executable& executable = lowered_->executable;
    executable.lowering_seconds = absl::ToDoubleSeconds(absl::Now() - start);
    if (Computes(executable)) {
      HPU_ASSIGN_OR_RETURN(std::shared_ptr<const hal::Recipe> recipe,
                           RecipeCache::Get().FindOrCompile(device, lowered_->program, task));
      HPU_RETURN_IF_ERROR(SetRecipe(std::move(recipe), &executable));
    }
    lowered_->program.hlo.clear();
    executable.compile_seconds = absl::ToDoubleSeconds(absl::Now() - start);
    compiled_.store(true, std::memory_order_release);
    return absl::OkStatus();
  };
  const absl::Status status = compile();
  if (!status.ok() && !absl::IsCancelled(status)) failure_ = status;
  return status;
}

absl::StatusOr<std::shared_ptr<Executable>> BoundedRecipe::MakeExecutable(
    hal::Device& device, const ClusterSource& source, const std::vector<ArgumentDescription>& arguments,
    const std::atomic<bool>* cancelled, bool only_stored) {
  absl::MutexLock lock(&mutex_);
  const bool is_first = !compiled();
  if (is_first) {
    CompileProgress::Scope progress(CompileProgress::Get(), source.name, CountOps(source), cancelled);
    const absl::Status status = Compile(device, source, CompileTask{cancelled, &progress, only_stored});
    progress.SetOutcome(status);
    HPU_RETURN_IF_ERROR(status);
  }
  const std::vector<int64_t> symbols = SymbolsOf(arguments);
  HPU_RETURN_IF_ERROR(CheckConditions(symbols, *lowered_));
  auto executable = std::make_shared<Executable>(lowered_->executable);
  executable->padded = true;
  executable->symbols = Int32Vector(symbols);
  executable->shares_recipe = !is_first;
  CountPadding(arguments_, arguments, executable.get());
  if (!is_first) executable->compile_seconds = executable->lowering_seconds = 0;
  HPU_RETURN_IF_ERROR(SetTrueShapes(symbols, *lowered_, executable.get()));
  return executable;
}

}  // namespace hpu
