#include "plugin/passes/analysis/variable_updates.h"

#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "plugin/compat/cluster_compilation.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/functions/functional_control_flow.h"
#include "plugin/passes/functions/reachable_nodes.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"

namespace hpu::passes {
namespace {

bool UpdatesResource(const tensorflow::OpDef& definition, const tensorflow::DataTypeVector& inputs) {
  const std::string& op = definition.name();
  if (!definition.is_stateful() || op == "_Retval" || op == "_DeviceRetval") return false;
  if (!absl::c_linear_search(inputs, tensorflow::DT_RESOURCE)) return false;
  // A collective's handle is its communicator.
  if (absl::StartsWith(op, "Collective") || absl::StartsWith(op, "HpuCollective")) return false;
  return !FactsOf(op).only_reads && !UsesStackOrTensorArray(op);
}

bool CallsFunctions(const tensorflow::NodeDef& node) {
  return IsFunctionalControlFlow(node) || node.op() == "PartitionedCall" || node.op() == "StatefulPartitionedCall";
}

// Calls by a function's name are no ops.
bool IsUpdateOp(const tensorflow::NodeDef& node) {
  const tensorflow::OpDef* op = nullptr;
  tensorflow::DataTypeVector inputs, outputs;
  return !CallsFunctions(node) && tensorflow::OpRegistry::Global()->LookUpOpDef(node.op(), &op).ok() &&
         tensorflow::InOutTypesForNode(node, *op, &inputs, &outputs).ok() && UpdatesResource(*op, inputs);
}

}  // namespace

bool UpdatesVariable(const tensorflow::Node& node) { return UpdatesResource(node.op_def(), node.input_types()); }

bool UpdatesVariables(const tensorflow::NameAttrList& function, const tensorflow::FunctionLibraryDefinition& library) {
  return FindReachableNode(function.name(), library, IsUpdateOp) != nullptr;
}

}  // namespace hpu::passes
