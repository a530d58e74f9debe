#include "plugin/compat/cluster_analysis.h"

#include <utility>

#include "absl/base/casts.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "tensorflow/compiler/jit/compilability_check_util.h"
#include "tensorflow/compiler/jit/deadness_analysis.h"
#include "tensorflow/compiler/tf2xla/const_analysis.h"

namespace hpu {

using tensorflow::DeadnessAnalysis;
using tensorflow::FunctionLibraryRuntime;
using tensorflow::Node;
using tensorflow::RecursiveCompilabilityChecker;

namespace {

RecursiveCompilabilityChecker::OperationFilter CompilableOps() {
  RecursiveCompilabilityChecker::OperationFilter filter;
  // Calls may contain variable ops, because the cluster's edges preserve the order of these ops (segmentation_pass.h).
  filter.allow_resource_ops_in_called_functions = true;
  // Allows TensorLists, which are variants. Segmentation keeps TensorLists inside clusters.
  filter.allow_ops_producing_or_consuming_variant = true;
  filter.allow_slow_ops = true;
  filter.allow_inaccurate_ops = true;
  filter.allow_string_consts = false;
  filter.allow_collective_reduce_v2 = false;
  return filter;
}

std::string FirstReason(const RecursiveCompilabilityChecker::UncompilableNodesMap& nodes) {
  for (const auto& [function, found] : nodes) {
    for (const auto& node : found.second) {
      if (node.stack_trace.size() > 1) return absl::StrCat(node.uncompilable_reason, " (", node.name, ")");
      return node.uncompilable_reason;
    }
  }
  return "the compiler does not support the op";
}

}  // namespace

absl::StatusOr<FunctionConstants> FindFunctionConstants(const tensorflow::NameAttrList& function,
                                                        FunctionLibraryRuntime* runtime) {
  FunctionConstants result;
  std::vector<int> resources;
  HPU_RETURN_IF_ERROR(
      tensorflow::GetBodyAndConstantsAndResources(runtime, function, &result.body, &result.constants, &resources));
  return result;
}

absl::StatusOr<std::vector<bool>> FindConstantArguments(const tensorflow::Graph& function, size_t num_arguments,
                                                        FunctionLibraryRuntime* runtime,
                                                        const std::function<bool(const tensorflow::Edge&)>& follows) {
  std::vector<bool> constants(num_arguments, false);
  HPU_RETURN_IF_ERROR(
      tensorflow::BackwardsConstAnalysis(function, &constants, /*compile_time_const_nodes=*/nullptr, runtime, follows));
  return constants;
}

CompilabilityChecker::CompilabilityChecker(const std::string& compilation_device)
    : checker_(std::make_unique<RecursiveCompilabilityChecker>(CompilableOps(),
                                                               tensorflow::DeviceType(compilation_device))) {}

CompilabilityChecker::~CompilabilityChecker() = default;

std::optional<std::string> CompilabilityChecker::WhyNotCompilable(const Node& node,
                                                                  FunctionLibraryRuntime* runtime) const {
  if (checker_->IsCompilableNode(node, runtime)) return std::nullopt;
  return FirstReason(checker_->FindUncompilableNodes(node, runtime));
}

absl::StatusOr<Deadness> Deadness::Analyze(const tensorflow::Graph& graph) {
  std::unique_ptr<DeadnessAnalysis> analysis;
  HPU_RETURN_IF_ERROR(DeadnessAnalysis::Run(graph, &analysis));
  return Deadness(std::move(analysis));
}

Deadness::Deadness(std::unique_ptr<DeadnessAnalysis> analysis) : analysis_(std::move(analysis)) {}
Deadness::Deadness(Deadness&& other) noexcept = default;
Deadness& Deadness::operator=(Deadness&& other) noexcept = default;
Deadness::~Deadness() = default;

absl::StatusOr<uintptr_t> Deadness::PredicateOf(Node* node) const {
  HPU_ASSIGN_OR_RETURN(const auto predicate, analysis_->GetPredicateFor(node, tensorflow::Graph::kControlSlot));
  return absl::bit_cast<uintptr_t>(predicate);
}

}  // namespace hpu
