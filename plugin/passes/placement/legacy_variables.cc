#include "plugin/passes/placement/legacy_variables.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/flags/flags.h"
#include "plugin/passes/graph/graph_util.h"

namespace hpu::passes {
namespace {

using tensorflow::Node;

constexpr char kSetting[] = "TF_HABANA_ALLOW_LEGACY_VARIABLES_ON_CPU";

bool UsesReferences(const Node& node) {
  return absl::c_any_of(node.input_types(), tensorflow::IsRefType) ||
         absl::c_any_of(node.output_types(), tensorflow::IsRefType);
}

bool IsVariable(const Node& node) { return node.type_string() == "VariableV2" || node.type_string() == "Variable"; }

}  // namespace

absl::Status PlaceLegacyVariables(tensorflow::Graph* graph, const std::string& host) {
  const bool allowed = flags::TfHabanaAllowLegacyVariablesOnCpu();
  for (Node* node : graph->op_nodes()) {
    if (IsPinnedToOtherDevice(*node) || !UsesReferences(*node)) continue;
    if (!allowed && IsVariable(*node)) {
      return absl::InvalidArgumentError(absl::StrCat("variable ", node->name(), " (", node->type_string(),
                                                     ") is a legacy (reference) variable, which the HPU does ",
                                                     "not support. Call tf.compat.v1.enable_resource_variables() "
                                                     "before building the model, or place the variable ",
                                                     "on the CPU with tf.device. ", kSetting,
                                                     "=true places all legacy variables and their ops on the CPU."));
    }
    if (!allowed) continue;  // the op uses a variable that the program placed on another device
    node->set_requested_device(host);
    node->AddAttr(kRefusalAttr,
                  absl::StrCat(NameOf(Rule::kLegacyVariable), ": uses a reference variable, and ", kSetting, "=true"));
  }
  return absl::OkStatus();
}

}  // namespace hpu::passes
