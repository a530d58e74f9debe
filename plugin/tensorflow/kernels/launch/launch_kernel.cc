#include "plugin/tensorflow/kernels/launch/launch_kernel.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/log/log.h"
#include "plugin/base/status_macros.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/passes/analysis/lowerings.h"
#include "plugin/passes/analysis/placement_policy.h"
#include "plugin/passes/functions/function_identity.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/tensorflow/device/hpu_device.h"
#include "plugin/tensorflow/kernels/launch/launch_limit.h"
#include "plugin/tensorflow/kernels/op_counters.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/platform/logging.h"

namespace hpu {
namespace {

using Kind = ArgumentDescription::Kind;

absl::Status ReadCluster(tensorflow::OpKernelConstruction* construction, LaunchKernel::Cluster* cluster) {
  int constants = 0, resources = 0;
  HPU_RETURN_IF_ERROR(construction->GetAttr("function", &cluster->function));
  HPU_RETURN_IF_ERROR(construction->GetAttr("num_constant_args", &constants));
  HPU_RETURN_IF_ERROR(construction->GetAttr("num_resource_args", &resources));
  HPU_RETURN_IF_ERROR(construction->GetAttr("must_compile", &cluster->must_compile));
  const int inputs = construction->num_inputs();
  if (constants + resources > inputs) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cluster ", cluster->function.name(), ": num_constant_args=", constants, " plus num_resource_args=", resources,
        " exceeds the number of arguments, ", inputs, "; recreate the graph"));
  }
  cluster->kinds.assign(inputs, Kind::kParameter);
  std::fill_n(cluster->kinds.begin(), constants, Kind::kConstant);
  std::fill_n(cluster->kinds.rbegin(), resources, Kind::kVariable);
  return absl::OkStatus();
}

// BoundedRecipes::refusal() as a clause for messages.
std::string RefusalText(const std::string& refusal) {
  return refusal.empty() ? "" : absl::StrCat("one recipe cannot serve several sizes: ", refusal);
}

}  // namespace

LaunchKernel::LaunchKernel(tensorflow::OpKernelConstruction* construction)
    : ClusterKernel(construction, std::make_shared<ExecutableTable>()) {
  Cluster cluster;
  OP_REQUIRES_OK(construction, ReadCluster(construction, &cluster));
  Initialize(construction, std::move(cluster));
}

LaunchKernel::LaunchKernel(tensorflow::OpKernelConstruction* construction, Cluster cluster)
    : ClusterKernel(construction, std::make_shared<ExecutableTable>()) {
  Initialize(construction, std::move(cluster));
}

void LaunchKernel::Initialize(tensorflow::OpKernelConstruction* construction, Cluster cluster) {
  function_ = std::move(cluster.function);
  kinds() = std::move(cluster.kinds);
  must_compile_ = cluster.must_compile;
  graph_def_version_ = construction->graph_def_version();
  const tensorflow::FunctionDef* definition =
      construction->function_library()->GetFunctionLibraryDefinition()->Find(function_.name());
  OP_REQUIRES(
      construction, definition != nullptr,
      absl::NotFoundError(absl::StrCat("cluster function ", function_.name(),
                                       " is not in the function library; save the graph together with its functions")));
  if (must_compile_) {
    const auto& library = *construction->function_library()->GetFunctionLibraryDefinition();
    OP_REQUIRES_OK(construction, passes::PlacementPolicy::Active().CheckMustCompile(function_.name(), library));
    OP_REQUIRES_OK(construction, passes::CheckLowerings(function_.name(), library, DrawsOnHost));
  }
  calls_jit_ = !must_compile_ && absl::c_any_of(definition->node_def(), [&](const tensorflow::NodeDef& node) {
    return passes::MustCompile(node, *construction->function_library()->GetFunctionLibraryDefinition());
  });
  const passes::FunctionIdentity identity =
      passes::IdentityOf(function_.name(), *construction->function_library()->GetFunctionLibraryDefinition());
  content_ = identity.content;
  learned_ = LearnedCluster::Make(function_.name(), static_cast<int>(kinds().size()), identity);
  counters_ = Statistics::Get().Cluster(function_.name(), definition->node_def_size(), kinds().size(),
                                        absl::c_count(kinds(), Kind::kConstant));
}

ClusterSource LaunchKernel::Source(tensorflow::OpKernelContext* context) const {
  ClusterSource source;
  source.name = name();
  source.function = function_;
  source.library = context->function_library()->GetFunctionLibraryDefinition();
  source.graph_def_version = graph_def_version_;
  source.dynamic_results = must_compile_;
  return source;
}

absl::StatusOr<std::unique_ptr<CpuFallback>> LaunchKernel::MakeCpuFallback(tensorflow::OpKernelContext* context) const {
  return MakeFunctionFallback(function_, *context->function_library()->GetFunctionLibraryDefinition(),
                              graph_def_version_);
}

std::shared_ptr<BoundedRecipes> LaunchKernel::bounded_recipes() const {
  return UsesBoundedRecipes() ? learned_->bounded_recipes() : nullptr;
}

FasterWay* LaunchKernel::split_times() {
  if (!may_choose_way()) return nullptr;
  absl::MutexLock lock(&split_mutex_);
  return split_ != nullptr ? &learned_->split_times() : nullptr;
}

absl::StatusOr<bool> LaunchKernel::RunSplit(tensorflow::OpKernelContext* context, ProcessDevice& device,
                                            const absl::Status& failure) {
  const SplitProgram* split = GetSplit(context, failure);
  if (split == nullptr) return false;
  HPU_RETURN_IF_ERROR(split->Run(context, device));
  return true;
}

const SplitProgram* LaunchKernel::GetSplit(tensorflow::OpKernelContext* context, const absl::Status& failure) {
  absl::MutexLock lock(&split_mutex_);
  if (split_tried_) return split_.get();
  split_tried_ = true;
  tensorflow::FunctionLibraryRuntime* runtime = context->function_library();
  const std::vector<std::string> refused = NodesNamedIn(failure.message());
  absl::StatusOr<std::unique_ptr<SplitProgram>> split = must_compile_
                                                            ? SplitProgram::MakeForRandomOps(runtime, function_.name())
                                                            : SplitProgram::Make(runtime, function_.name(), refused);
  if (!split.ok()) {
    VLOG(1) << name() << " cannot be split: " << split.status();
    // The program receives the error, and may continue.
    if (must_compile_) {
      OpCounters::Get().AddFailure(RecordOf(def()), function_.name(), Rule::kCompileError, {}, failure.message());
    }
    return nullptr;
  }
  const std::string removed = absl::StrJoin((*split)->removed(), ", ");
  VLOG(1) << name() << " was split, because these nodes cannot be compiled: " << removed << ": " << failure.message();
  HPU_LOG(kKernels, kInfo) << name() << " was split, because these nodes cannot be compiled: " << removed;
  OpCounters::Get().AddFailure(RecordOf(def()), function_.name(), Rule::kCompileError, (*split)->removed(),
                               failure.message());
  split_ = *std::move(split);
  return split_.get();
}

absl::Status LaunchKernel::OnFailure(tensorflow::OpKernelContext* context, const absl::Status& failure) {
  // A jit_compile function never runs on the CPU.
  if (must_compile_ || calls_jit_) {
    return passes::MustCompileFailure(function_.name(), *context->function_library()->GetFunctionLibraryDefinition(),
                                      failure, NodesNamedIn(failure.message()));
  }
  if (flags::TfCpuRuntimeFallback() == flags::TfCpuRuntimeFallbackSetting::kForbid) {
    return absl::Status(
        failure.code(),
        absl::StrCat("node ", name(), " cannot run on the HPU, and ",
                     "TF_CPU_RUNTIME_FALLBACK=forbid disables the CPU fallback (allow enables the fallback): ",
                     failure.message()));
  }
  return absl::OkStatus();
}

void LaunchKernel::OnTooLarge(const absl::Status& failure) {
  if (warned_.exchange(true)) return;
  OpCounters::Get().AddFailure(RecordOf(def()), function_.name(), Rule::kTooLarge, {}, failure.message());
}

void LaunchKernel::OnFallback(const absl::Status& failure) {
  if (warned_.exchange(true)) return;
  OpCounters::Get().AddFailure(RecordOf(def()), function_.name(), Rule::kFallback, NodesNamedIn(failure.message()),
                               failure.message());
  // The wording that Gaudi's guide documents.
  LOG(WARNING) << "Computation on HPU failed: node=" << name() << " error: " << failure.message();
  LOG(WARNING) << "Delegating node=" << name() << " to CPU";
  HPU_LOG(kKernels, kWarning) << name() << " runs on the CPU: " << failure.message();
}

LaunchKernel::Choice LaunchKernel::Decide(ExecutableTable::Entry& entry, const KernelArguments& arguments,
                                          const std::vector<ArgumentDescription>& descriptions) {
  if (const absl::StatusOr<ProcessDevice*> device = ProcessDevice::Get(); device.ok()) learned_->Load((*device)->hal());
  ClusterCounts counts = history_->CountMiss(entry, descriptions);
  learned_->signatures().Count(content_, descriptions, &counts);
  if (counts.fallbacks == 0)
    Statistics::Get().SetChangingSize(counters_, history_->MostFrequentChange(ArgumentNames()));
  counts.in_background = table().in_background();
  counts.has_parts = split_times() != nullptr;
  const std::shared_ptr<BoundedRecipes> recipes = bounded_recipes();
  std::shared_ptr<BoundedRecipes::Bucket> bucket = recipes != nullptr ? recipes->Find(descriptions) : nullptr;
  if (bucket != nullptr) {
    counts.has_bucket = true;
    counts.bucket_scheduled = bucket->scheduled();
    counts.bucket_cpu_seconds = bucket->cpu_seconds();
    counts.bucket_stored = bucket->TakeStored();
  }
  if (IsMegamorphic(counts)) WarnOfChanges(counts);
  const bool compiles_at_once = must_compile_ || calls_jit_ || (bucket != nullptr && bucket->recipe().compiled());
  Choice choice;
  choice.decision = compiles_at_once ? CompileDecision{.for_bucket = bucket != nullptr} : DecideCompile(counts);
  choice.bucket = std::move(bucket);
  return choice;
}

std::vector<std::string> LaunchKernel::ArgumentNames() const {
  std::vector<std::string> names;
  for (int i = 0; i < num_inputs(); ++i) names.push_back(requested_input(i));  // name of the node that feeds the input
  return names;
}

std::string LaunchKernel::MostFrequentChange() const {
  const std::string refusal = learned_->bounded_recipes()->refusal();
  return absl::StrCat(history_->MostFrequentChange(ArgumentNames()), refusal.empty() ? "" : "; ", RefusalText(refusal));
}

void LaunchKernel::WarnOfChanges(const ClusterCounts& counts) {
  if (warned_of_changes_.exchange(true)) return;
  const std::string warning = absl::StrCat(name(), " needed ", counts.recipes, " recipes for ", counts.executions,
                                           " executions; most frequent change: ", MostFrequentChange());
  LOG(WARNING) << warning
               << (flags::TfEnableDynamicShapes()
                       ? ". Pad the changing argument to a few sizes; until then new sizes run on the CPU "
                         "(TF_ENABLE_DYNAMIC_SHAPES)"
                       : ". Pad the changing argument to a few sizes (for text: in the input pipeline), or set "
                         "TF_ENABLE_DYNAMIC_SHAPES=1, so that sizes share bounded recipes");
  HPU_LOG(kKernels, kWarning) << warning;
}

void LaunchKernel::CountLaunch(const Executable& executable) {
  LaunchLimit::Get().Count(counters_->launches.fetch_add(1, std::memory_order_relaxed) + 1);
  history_->CountExecution();
  if (executable.padded) {
    counters_->padded_launches.fetch_add(1, std::memory_order_relaxed);
    counters_->changing_bytes.fetch_add(executable.changing_bytes, std::memory_order_relaxed);
    counters_->padded_bytes.fetch_add(executable.padded_bytes, std::memory_order_relaxed);
  }
  HPU_LOG(kKernels, kTrace) << name() << ": launched";
}

std::function<void(const Executable&)> LaunchKernel::CompileCounter(
    const std::vector<ArgumentDescription>& descriptions) const {
  return [descriptions, content = content_, learned = learned_, counters = counters_, history = history_,
          record = RecordOf(def()), function = function_.name(), name = name()](const Executable& executable) {
    learned->signatures().Add(content, descriptions, executable.compile_seconds);
    if (executable.shares_recipe) return;
    learned->Save();
    if (const std::string refusal = learned->bounded_recipes()->refusal(); !refusal.empty()) {
      OpCounters::Get().AddFailure(record, function, Rule::kDynamicShapes, {}, RefusalText(refusal));
    }
    counters->recipes.fetch_add(1, std::memory_order_relaxed);
    counters->compile_microseconds.fetch_add(static_cast<int64_t>(executable.compile_seconds * 1e6));
    counters->lowering_microseconds.fetch_add(static_cast<int64_t>(executable.lowering_seconds * 1e6));
    history->CountRecipe();
    int64_t argument_bytes = 0, recipe_bytes = 0;
    if (executable.recipe != nullptr) {
      for (const hal::TensorSpec& argument : executable.recipe->arguments()) argument_bytes += argument.bytes;
      recipe_bytes = static_cast<int64_t>(executable.recipe->serialized_bytes());
    }
    counters->argument_bytes.store(argument_bytes, std::memory_order_relaxed);
    counters->recipe_bytes.fetch_add(recipe_bytes, std::memory_order_relaxed);
    VLOG(1) << name << ": compiled in " << executable.compile_seconds << " s ("
            << Statistics::Get().Read().compile_seconds() << " s in total), " << argument_bytes
            << " bytes of arguments, recipe of " << recipe_bytes << " bytes";
  };
}

void LaunchKernel::CountFallback(uint64_t bytes, Rule reason) {
  counters_->fallbacks.fetch_add(1, std::memory_order_relaxed);
  counters_->fallback_reasons[static_cast<int>(reason)].fetch_add(1, std::memory_order_relaxed);
  counters_->fallback_bytes.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  history_->CountExecution();
  HPU_LOG(kKernels, kDebug) << name() << " ran on the CPU: " << MeaningOf(reason);
  if (reason == Rule::kFallback || !OpCounters::Get().collects()) return;
  OpCounters::Get().AddFailure(RecordOf(def()), function_.name(), reason, {},
                               reason == Rule::kMegamorphic ? MostFrequentChange() : "");
}

REGISTER_KERNEL_BUILDER(Name("HabanaLaunch").Device(kDeviceType), LaunchKernel);

}  // namespace hpu
