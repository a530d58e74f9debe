#include "plugin/passes/clustering/check_order.h"

#include <string>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/analysis/lowerings.h"
#include "plugin/passes/analysis/variable_updates.h"
#include "plugin/passes/graph/graph_util.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

bool HasDeviceKernel(const tensorflow::Node& check) {
  return check.type_string() == kCheckIndicesOp || check.type_string() == kCheckValuesOp;
}

bool IsOwnConstant(const tensorflow::Node& node, const tensorflow::Node& check) {
  return node.IsConstant() && absl::c_all_of(node.out_edges(), [&](const tensorflow::Edge* edge) {
           return edge->dst() == &check || edge->dst()->IsSink();
         });
}

bool AreInputsOnHost(const tensorflow::Node& check) {
  for (int i = 0; i < check.num_inputs(); ++i) {
    if (!IsOnHost(InputOf(check, i))) return false;
  }
  return true;
}

// Moves a check of a cluster's results to the cluster's device, to avoid copies to the host. The check stays on the
// host if an op on the host computes one of its inputs.
void MoveToDevice(const std::string& device, tensorflow::Node* check) {
  if (!HasDeviceKernel(*check)) return;
  std::vector<tensorflow::Node*> constants;
  for (int i = 0; i < check->num_inputs(); ++i) {
    const tensorflow::OutputTensor input = InputOf(*check, i);
    if (IsOwnConstant(*input.node, *check)) {
      constants.push_back(input.node);
    } else if (IsOnHost(input)) {
      return;
    }
  }
  check->set_assigned_device_name(device);
  for (tensorflow::Node* constant : constants) constant->set_assigned_device_name(device);
}

// Whether a node updates a variable, in a cluster. Other resources, such as iterators, have no lowering.
bool ChangesValues(const tensorflow::Node& node) {
  return UpdatesVariable(node) && IsOnHpu(node) && FactsOf(node.type_string()).random == RandomNumbers::kNone &&
         HasLowering(node.def());
}

}  // namespace

UpdateFollowers::UpdateFollowers(const tensorflow::Graph& graph) : follows_(graph.num_node_ids(), false) {
  std::vector<const tensorflow::Node*> left;
  for (const tensorflow::Node* node : graph.op_nodes()) {
    if (ChangesValues(*node)) left.push_back(node);
  }
  while (!left.empty()) {
    const tensorflow::Node* node = left.back();
    left.pop_back();
    for (const tensorflow::Edge* edge : node->out_edges()) {
      if (!edge->dst()->IsOp() || follows_[edge->dst()->id()]) continue;
      follows_[edge->dst()->id()] = true;
      left.push_back(edge->dst());
    }
  }
}

void SetOrigin(const tensorflow::Node& node, tensorflow::Node* check) {
  if (!tensorflow::NodeDebugInfo(*check).original_node_names.empty()) return;
  tensorflow::NodeDebugInfo origin(node);
  if (origin.original_node_names.empty()) origin.original_node_names.push_back(node.name());
  check->set_original_node_names(origin.original_node_names);
  check->set_original_func_names(origin.original_func_names);
}

void AddLateCheck(const tensorflow::Node& check, tensorflow::Node* node) {
  std::vector<std::string> checks;
  tensorflow::TryGetNodeAttr(node->attrs(), kChecksAttr, &checks);
  checks.push_back(check.name());
  node->ClearAttr(kChecksAttr);
  node->AddAttr(kChecksAttr, checks);
}

void OrderCheck(PassContext* context, tensorflow::Node* node, tensorflow::Node* check, absl::string_view what,
                bool before) {
  if (before) {
    (*context->graph)->AddControlEdge(check, node);
  } else {
    // A check whose inputs are on the host could fail before the cluster runs.
    if (AreInputsOnHost(*check)) (*context->graph)->AddControlEdge(node, check);
    AddLateCheck(*check, node);
  }
  SetOrigin(*node, check);
  AddRewrite(&context->report, node->name(), node->type_string(), "checks",
             absl::StrCat(what, " checked by ", check->name(), before ? " before" : " after", " the cluster"));
}

std::vector<LateCheck> TakeLateChecks(tensorflow::Graph* graph) {
  absl::flat_hash_map<std::string, std::vector<tensorflow::Node*>> checked;  // by name of the check
  for (tensorflow::Node* node : graph->op_nodes()) {
    std::vector<std::string> checks;
    if (!tensorflow::TryGetNodeAttr(node->attrs(), kChecksAttr, &checks)) continue;
    for (const std::string& check : checks) checked[check].push_back(node);
    node->ClearAttr(kChecksAttr);
  }
  std::vector<LateCheck> result;
  if (checked.empty()) return result;
  for (tensorflow::Node* node : graph->op_nodes()) {
    const auto found = checked.find(node->name());
    if (found == checked.end()) continue;
    MoveToDevice(found->second.front()->assigned_device_name(), node);
    result.push_back({node, found->second});
  }
  return result;
}

}  // namespace hpu::passes
