#include "plugin/compiler/compile.h"

#include <cstdint>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "plugin/base/log/log.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/trace/trace.h"
#include "plugin/base/version/contact.h"
#include "plugin/compiler/background/compile_progress.h"
#include "plugin/compiler/compile_task.h"
#include "plugin/compiler/recipe_cache.h"

namespace hpu {
namespace {

absl::StatusOr<std::shared_ptr<Executable>> LowerAndCompile(hal::Device& device, const ClusterSource& source,
                                                            const std::vector<ArgumentDescription>& arguments,
                                                            const CompileTask& task) {
  const absl::Time start = absl::Now();
  HPU_RETURN_IF_ERROR(task.Enter("lowering"));
  HPU_ASSIGN_OR_RETURN(Lowered lowered, Lower(source, arguments));
  auto executable = std::make_shared<Executable>(std::move(lowered.executable));
  executable->lowering_seconds = absl::ToDoubleSeconds(absl::Now() - start);
  if (Computes(*executable)) {
    HPU_ASSIGN_OR_RETURN(std::shared_ptr<const hal::Recipe> recipe,
                         RecipeCache::Get().FindOrCompile(device, lowered.program, task));
    HPU_RETURN_IF_ERROR(SetRecipe(std::move(recipe), executable.get()));
  }
  executable->compile_seconds = absl::ToDoubleSeconds(absl::Now() - start);
  return executable;
}

}  // namespace

int64_t CountOps(const ClusterSource& source) {
  if (source.node != nullptr) return 1;
  const tensorflow::FunctionDef* function = source.library->Find(source.function.name());
  return function == nullptr ? 0 : function->node_def_size();
}

bool Computes(const Executable& executable) {
  return !executable.updates.empty() || absl::c_any_of(executable.outputs, [](const Executable::Output& output) {
    return output.kind == Executable::Output::Kind::kResult;
  });
}

absl::Status SetRecipe(std::shared_ptr<const hal::Recipe> recipe, Executable* executable) {
  executable->recipe = std::move(recipe);
  if (executable->recipe->arguments().size() != executable->argument_inputs.size()) {
    return absl::InternalError(absl::StrCat(executable->name, ": the recipe has ",
                                            executable->recipe->arguments().size(), " arguments, but the cluster has ",
                                            executable->argument_inputs.size(), "; " HPU_REPORT_BUG));
  }
  for (Executable::Update& update : executable->updates) {
    update.aliased_argument = executable->recipe->results()[update.result].aliased_argument;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Executable>> CompileCluster(hal::Device& device, const ClusterSource& source,
                                                           const std::vector<ArgumentDescription>& arguments,
                                                           const std::atomic<bool>* cancelled, bool only_stored) {
  log::ReadSettings();
  HPU_LOG(kCompiler, kDebug) << source.name << ": compiling with " << arguments.size() << " arguments";
  const trace::Scope traced(trace::Lane::kCompile, source.name);
  CompileProgress::Scope progress(CompileProgress::Get(), source.name, CountOps(source), cancelled);
  const CompileTask task{cancelled, &progress, only_stored};
  absl::StatusOr<std::shared_ptr<Executable>> executable = LowerAndCompile(device, source, arguments, task);
  progress.SetOutcome(executable.status());
  if (executable.ok()) {
    HPU_LOG(kCompiler, kInfo) << source.name << ": compiled in " << (*executable)->compile_seconds << " s";
  } else if (!absl::IsCancelled(executable.status())) {
    HPU_LOG(kCompiler, kError) << source.name << ": compilation failed: " << executable.status();
  }
  return executable;
}

}  // namespace hpu
