#include "plugin/tensorflow/kernels/eager/eager_kernel.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/status_macros.h"
#include "plugin/compiler/argument_rules.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/analysis/lowerings.h"
#include "plugin/passes/analysis/placement_policy.h"
#include "plugin/tensorflow/kernels/compile_policy.h"
#include "plugin/tensorflow/kernels/cpu_fallback/host_layout.h"
#include "plugin/tensorflow/kernels/eager/index_range.h"
#include "plugin/tensorflow/kernels/eager/value_range.h"
#include "plugin/tensorflow/kernels/op_counters.h"
#include "plugin/tensorflow/kernels/statistics.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/rng_alg.h"
#include "tensorflow/core/lib/strings/proto_serialization.h"

namespace hpu {
namespace {

using Kind = ArgumentDescription::Kind;

// Key of a node: the op and the attributes, except private attributes ("_...").
std::string NodeKey(tensorflow::NodeDef node) {
  node.clear_name();
  node.clear_device();
  node.clear_input();
  node.clear_experimental_debug_info();
  auto& attributes = *node.mutable_attr();
  for (auto it = attributes.begin(); it != attributes.end();) {
    it = absl::StartsWith(it->first, "_") ? attributes.erase(it) : std::next(it);
  }
  std::string key;
  tensorflow::SerializeToStringDeterministic(node, &key);
  return key;
}

// Whether a node's attributes name functions. The node's key does not include the functions' bodies.
bool NamesFunctions(const tensorflow::NodeDef& node) {
  return absl::c_any_of(node.attr(), [](const auto& attribute) {
    return attribute.second.has_func() || attribute.second.list().func_size() > 0;
  });
}

// Whether placement refuses the op. A refused op stays on the HPU if the op uses a variable on the HPU.
bool IsRefused(const tensorflow::NodeDef& node) {
  return passes::PlacementPolicy::Active().Refuse(node.op(), tensorflow::AttrSlice(node)).has_value();
}

std::shared_ptr<ExecutableTable> SharedTable(const tensorflow::NodeDef& node) {
  // Equal nodes share recipes, except refused ops and nodes that name functions: functions of the same name may differ
  // between graphs.
  if (IsRefused(node) || NamesFunctions(node)) return std::make_shared<ExecutableTable>();
  static auto* mutex = new absl::Mutex;
  static auto* tables = new absl::flat_hash_map<std::string, std::shared_ptr<ExecutableTable>>;
  absl::MutexLock lock(mutex);
  std::shared_ptr<ExecutableTable>& table = (*tables)[NodeKey(node)];
  if (table == nullptr) table = std::make_shared<ExecutableTable>();
  return table;
}

bool IsCompilable(const tensorflow::NodeDef& node) {
  return !IsRefused(node) && !IsKeptFromCompiler(node.op()) && passes::HasLowering(node);
}

// Whether the op runs on its CPU kernel, because compiled code would draw other random numbers or raise no errors.
bool RunsOnCpu(const tensorflow::NodeDef& node) {
  return FactsOf(node.op()).eager == EagerPolicy::kCpu && HasCpuKernel(node);
}

bool AnyAboveOne(const tensorflow::NodeDef& node, const char* attribute) {
  const auto found = node.attr().find(attribute);
  return found != node.attr().end() &&
         absl::c_any_of(found->second.list().i(), [](int64_t number) { return number > 1; });
}

// Whether the first eager call compiles, because the op's CPU kernel rejects the attributes or computes a different
// result. The fallback uses TensorFlow's Eigen kernels, not the oneDNN kernels of graphs on the CPU.
bool IsLeftToCompiler(const tensorflow::NodeDef& node) {
  const std::string& op = node.op();
  if (IsChannelsFirst(node)) return true;
  // The CPU kernel does not support dilations. With SAME padding and strides larger than the window, the kernel
  // computes a negative padding.
  if (op == "Conv3D") {
    return AnyAboveOne(node, "dilations") || (node.attr().at("padding").s() == "SAME" && AnyAboveOne(node, "strides"));
  }
  // The CPU kernels ignore dilations.
  if (op == "DepthwiseConv2dNativeBackpropFilter" || op == "DepthwiseConv2dNativeBackpropInput") {
    return AnyAboveOne(node, "dilations");
  }
  // The CPU kernel returns fewer results than shape inference predicts.
  const auto aggregated = node.attr().find("aggregate_to_topk");
  return op == "ApproxTopK" && aggregated != node.attr().end() && !aggregated->second.b();
}

// Whether a random op uses ThreeFry, which the CPU kernels do not support.
bool IsThreeFry(const tensorflow::Tensor& algorithm) {
  return algorithm.dtype() == tensorflow::DT_INT32 && algorithm.NumElements() == 1 &&
         algorithm.flat<tensorflow::int32>()(0) == tensorflow::RNG_ALG_THREEFRY;
}

// Whether the sizes of a result, which are in host memory, contain 0.
bool HasZero(const tensorflow::Tensor& sizes) {
  const auto contains_zero = [](const auto& numbers) {
    return std::find(numbers.data(), numbers.data() + numbers.size(), 0) != numbers.data() + numbers.size();
  };
  if (sizes.dtype() == tensorflow::DT_INT32) return contains_zero(sizes.flat<int32_t>());
  return sizes.dtype() == tensorflow::DT_INT64 && contains_zero(sizes.flat<int64_t>());
}

bool HasEmptyInput(tensorflow::OpKernelContext* context) {
  for (int i = 0; i < context->num_inputs(); ++i) {
    if (context->input(i).NumElements() == 0) return true;
  }
  return false;
}

bool AllOnHost(const tensorflow::MemoryTypeVector& types) {
  return absl::c_all_of(types, [](tensorflow::MemoryType type) { return type == tensorflow::HOST_MEMORY; });
}

// A guess before the first compilation.
double MeanCompileSeconds() {
  constexpr double kGuess = 0.05;
  const EagerCounters& counters = Statistics::Get().eager();
  const int64_t recipes = counters.recipes.load(std::memory_order_relaxed);
  if (recipes == 0) return kGuess;
  return 1e-6 * static_cast<double>(counters.compile_microseconds.load(std::memory_order_relaxed)) /
         static_cast<double>(recipes);
}

}  // namespace

EagerKernel::EagerKernel(tensorflow::OpKernelConstruction* construction)
    : ClusterKernel(construction, SharedTable(construction->def())),
      compilable_(IsCompilable(construction->def())),
      has_cpu_kernel_(HasCpuKernel(construction->def())),
      runs_on_cpu_(RunsOnCpu(construction->def())),
      indexed_(IndexedOpOf(construction->def().op())),
      rule_(checks::FindValueRule(construction->def().op(), tensorflow::AttrSlice(construction->def()))),
      left_to_compiler_(IsLeftToCompiler(construction->def())),
      sums_over_windows_(FactsOf(construction->def().op()).sums_windows),
      graph_def_version_(construction->graph_def_version()),
      record_(RecordOf(construction->def())) {
  kinds().assign(num_inputs(), Kind::kParameter);
  bool has_resources = false;
  for (int i = 0; i < num_inputs(); ++i) {
    if (input_type(i) != tensorflow::DT_RESOURCE) continue;
    kinds()[i] = Kind::kVariable;
    has_resources = true;
  }
  only_host_ = !has_resources && AllOnHost(input_memory_types()) && AllOnHost(output_memory_types());
  if (!compilable_) return;
  int end = 0;
  if (!InputRange("alg", &algorithm_, &end).ok()) algorithm_ = -1;
  std::vector<int> constants;
  OP_REQUIRES_OK(construction, tensorflow::XlaOpRegistry::CompileTimeConstantInputs(*this, &constants));
  for (int i : constants) kinds()[i] = Kind::kConstant;
}

ClusterSource EagerKernel::Source(tensorflow::OpKernelContext* context) const {
  ClusterSource source;
  source.name = name();
  source.node = &def();
  source.node_outputs.assign(output_types().begin(), output_types().end());
  source.library = context->function_library()->GetFunctionLibraryDefinition();
  source.graph_def_version = graph_def_version_;
  return source;
}

absl::StatusOr<std::unique_ptr<CpuFallback>> EagerKernel::MakeCpuFallback(tensorflow::OpKernelContext*) const {
  absl::StatusOr<std::unique_ptr<CpuFallback>> program = MakeKernelFallback(def(), graph_def_version_);
  // After UNIMPLEMENTED, the caller compiles the op.
  if (!program.ok()) return absl::UnimplementedError(program.status().message());
  return program;
}

bool EagerKernel::IsEmptySum(const KernelArguments& arguments) {
  for (int i = 0; i < num_inputs(); ++i) {
    const tensorflow::Tensor& value = arguments.value(i);
    if (value.NumElements() == 0) return true;
    if (kinds()[i] == Kind::kConstant && HasZero(value)) return true;
  }
  return false;
}

EagerKernel::Choice EagerKernel::Decide(ExecutableTable::Entry& entry, const KernelArguments& arguments,
                                        const std::vector<ArgumentDescription>& descriptions) {
  constexpr CompileDecision kNever{CompileDecision::Action::kRunOnCpu, Rule::kNever};
  if (runs_on_cpu_) {
    return algorithm_ >= 0 && IsThreeFry(arguments.value(algorithm_)) ? CompileDecision() : kNever;
  }
  if (!compilable_) return kNever;
  if (!has_cpu_kernel_ || (sums_over_windows_ && IsEmptySum(arguments))) return {};
  if (only_host_ || flags::CompileMode() == flags::CompileModeSetting::kNever) return kNever;
  // The CPU kernel has raised an error for this signature, which a recipe might not raise.
  if (entry.raised()) return kNever;
  if (left_to_compiler_) return {};
  // x[i] in a Python loop has a new signature at each step. Compiling every signature would cost more time than it
  // saves.
  const int64_t compile_after = flags::EagerCompileAfter();
  if (compile_after > 0 && table().created() > flags::EagerMaxSignatures()) return kNever;
  EagerCounts counts;
  counts.cpu_runs = entry.CountFallback();
  counts.cpu_seconds = entry.cpu_seconds();
  counts.compile_seconds = MeanCompileSeconds();
  counts.scheduled = entry.scheduled();
  return DecideEagerCompile(counts);
}

absl::StatusOr<bool> EagerKernel::NeedsFallback(tensorflow::OpKernelContext* context, ProcessDevice& device,
                                                const KernelArguments& arguments) {
  // Compiled code does not check indices. For indices out of range, the CPU kernel raises the expected error.
  if (indexed_ != nullptr) {
    HPU_ASSIGN_OR_RETURN(const bool in_range, IndicesInRange(context, device, *indexed_, arguments));
    if (!in_range) return true;
  }
  if (rule_ == nullptr) return false;
  HPU_ASSIGN_OR_RETURN(const bool passes, InputsPass(device, *rule_, arguments));
  return !passes;
}

absl::StatusOr<bool> EagerKernel::ResultNeedsFallback(tensorflow::OpKernelContext* context, ProcessDevice& device) {
  if (rule_ == nullptr) return false;
  HPU_ASSIGN_OR_RETURN(const bool passes, ResultPasses(context, device, *rule_));
  return !passes;
}

absl::Status EagerKernel::CheckFallback(ProcessDevice& device, const KernelArguments& arguments) {
  if (rule_ == nullptr || rule_->host_safe) return absl::OkStatus();
  HPU_ASSIGN_OR_RETURN(const bool passes, InputsPass(device, *rule_, arguments));
  return passes ? absl::OkStatus() : absl::Status(rule_->code, rule_->error);
}

absl::Status EagerKernel::OnFailure(tensorflow::OpKernelContext* context, const absl::Status& failure) {
  // For empty operands, the CPU kernel would leave its result unwritten.
  if (sums_over_windows_ && absl::IsInvalidArgument(failure) && HasEmptyInput(context)) return failure;
  if (flags::TfCpuRuntimeFallback() != flags::TfCpuRuntimeFallbackSetting::kForbid) return absl::OkStatus();
  return absl::Status(
      failure.code(),
      absl::StrCat("op ", def().op(), " cannot run on the HPU, and ",
                   "TF_CPU_RUNTIME_FALLBACK=forbid disables the CPU fallback (allow enables the fallback): ",
                   failure.message()));
}

void EagerKernel::CountLaunch(const Executable& executable) {
  Statistics::Get().eager().launches.fetch_add(1, std::memory_order_relaxed);
}

std::function<void(const Executable&)> EagerKernel::CompileCounter(const std::vector<ArgumentDescription>&) const {
  return [](const Executable& executable) {
    EagerCounters& counters = Statistics::Get().eager();
    counters.recipes.fetch_add(1, std::memory_order_relaxed);
    counters.compile_microseconds.fetch_add(static_cast<int64_t>(executable.compile_seconds * 1e6));
  };
}

void EagerKernel::CountFallback(uint64_t bytes, Rule) {
  EagerCounters& counters = Statistics::Get().eager();
  counters.host_runs.fetch_add(1, std::memory_order_relaxed);
  counters.host_bytes.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  if (record_ > 0) OpCounters::Get().AddCpuRun(record_, name(), static_cast<int64_t>(bytes));
}

}  // namespace hpu
