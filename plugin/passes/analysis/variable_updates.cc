#include "plugin/passes/analysis/variable_updates.h"

#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "plugin/compat/tf_2_15/cluster_compilation.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/functions/functional_control_flow.h"
#include "plugin/passes/functions/reachable_nodes.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"

namespace hpu::passes {
namespace {

bool IsUpdate(const tensorflow::NodeDef& node) {
  const tensorflow::OpDef* op = nullptr;
  tensorflow::DataTypeVector inputs, outputs;
  return !IsFunctionalControlFlow(node) && tensorflow::OpRegistry::Global()->LookUpOpDef(node.op(), &op).ok() &&
         op->is_stateful() && !FactsOf(node.op()).only_reads &&
         tensorflow::InOutTypesForNode(node, *op, &inputs, &outputs).ok() &&
         absl::c_linear_search(inputs, tensorflow::DT_RESOURCE);
}

}  // namespace

bool UpdatesVariable(const tensorflow::Node& node) {
  const std::string& op = node.type_string();
  if (!node.op_def().is_stateful() || node.IsArg() || node.IsRetval()) return false;
  if (!absl::c_linear_search(node.input_types(), tensorflow::DT_RESOURCE)) return false;
  // A collective's handle is its communicator.
  if (node.IsCollective() || absl::StartsWith(op, "Collective") || absl::StartsWith(op, "HpuCollective")) return false;
  return !FactsOf(op).only_reads && !UsesStackOrTensorArray(op);
}

bool UpdatesVariables(const tensorflow::NameAttrList& function, const tensorflow::FunctionLibraryDefinition& library) {
  return FindReachableNode(function.name(), library, [](const tensorflow::NodeDef& node) {
           return node.op() != "PartitionedCall" && node.op() != "StatefulPartitionedCall" && IsUpdate(node);
         }) != nullptr;
}

}  // namespace hpu::passes
