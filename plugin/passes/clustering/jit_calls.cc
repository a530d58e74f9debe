#include "plugin/passes/clustering/jit_calls.h"

#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/flags/flags.h"
#include "plugin/compat/function_bodies.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/analysis/clustering_rules.h"
#include "plugin/passes/analysis/handle_device.h"
#include "plugin/passes/analysis/lowerings.h"
#include "plugin/passes/analysis/placement_policy.h"
#include "plugin/passes/functions/reachable_nodes.h"
#include "plugin/passes/graph/graph_util.h"

namespace hpu::passes {
namespace {

using tensorflow::DataType;
using tensorflow::FunctionLibraryDefinition;
using tensorflow::Node;
using tensorflow::NodeDef;

bool CanCrossCluster(DataType type) {
  return type != tensorflow::DT_VARIANT && type != tensorflow::DT_STRING && !tensorflow::IsRefType(type);
}

// Why a node of the called function requires a cluster of its own.
std::optional<std::string> WhyAlone(const NodeDef& node) {
  const OpFacts& facts = FactsOf(node.op());
  if (facts.result_size != ResultSize::kShapes) return "the size of its result depends on values";
  if (facts.random == RandomNumbers::kSeeded && facts.compile == CompilePolicy::kNever) {
    return "it draws random numbers on the host";
  }
  if (absl::StartsWith(node.op(), "Collective")) return "it waits for other processes or devices";
  return std::nullopt;
}

std::optional<std::string> WhyFunctionAlone(const std::string& function, const FunctionLibraryDefinition& library) {
  const NodeDef* node =
      FindReachableNode(function, library, [](const NodeDef& inner) { return WhyAlone(inner).has_value(); });
  if (node == nullptr) return std::nullopt;
  return absl::StrCat("contains ", node->name(), " (", node->op(), "): ", *WhyAlone(*node));
}

}  // namespace

std::optional<std::string> WhyAlone(const Node& call, const PassContext& context) {
  if (!call.IsPartitionedCall()) return "is called by its name";
  if (const auto refusal = RefuseBySettings(call, context.settings)) return refusal->reason;
  if (const auto mode = flags::CompileMode();
      mode != flags::CompileModeSetting::kStrict && mode != flags::CompileModeSetting::kAuto) {
    return absl::StrCat("is compiled at once, but HPU_COMPILE_MODE=", flags::NameOf(mode));
  }
  if (!absl::c_all_of(call.input_types(), CanCrossCluster) || !absl::c_all_of(call.output_types(), CanCrossCluster) ||
      absl::c_linear_search(call.output_types(), tensorflow::DT_RESOURCE)) {
    return "takes or returns values that cannot leave a cluster";
  }
  if (HasHandleOfOtherDevice(call)) return "uses a resource on another device";
  const absl::StatusOr<tensorflow::NameAttrList> function = CalledFunction(call.def());
  if (!function.ok()) return std::string(function.status().message());
  const std::string& name = function->name();
  const bool compiles = PlacementPolicy::Active().CheckMustCompile(name, *context.library).ok() &&
                        CheckLowerings(name, *context.library, [](std::string_view) { return false; }).ok();
  if (!compiles) return "contains an op that cannot be compiled";
  return WhyFunctionAlone(name, *context.library);
}

}  // namespace hpu::passes
