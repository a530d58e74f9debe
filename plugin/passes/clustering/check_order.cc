#include "plugin/passes/clustering/check_order.h"

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "plugin/passes/graph/graph_util.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

// Copies the origin of `node` to `check`, because errors name a node by its origin. A node that no pass has inlined is
// its own origin.
void SetOrigin(const tensorflow::Node& node, tensorflow::Node* check) {
  if (!tensorflow::NodeDebugInfo(*check).original_node_names.empty()) return;
  tensorflow::NodeDebugInfo origin(node);
  if (origin.original_node_names.empty()) origin.original_node_names.push_back(node.name());
  check->set_original_node_names(origin.original_node_names);
  check->set_original_func_names(origin.original_func_names);
}

void AddLateCheck(const std::string& check, tensorflow::Node* node) {
  std::vector<std::string> checks;
  tensorflow::TryGetNodeAttr(node->attrs(), kChecksAttr, &checks);
  checks.push_back(check);
  node->ClearAttr(kChecksAttr);
  node->AddAttr(kChecksAttr, checks);
}

}  // namespace

void OrderCheck(PassContext* context, tensorflow::Node* node, tensorflow::Node* check, absl::string_view what,
                bool before) {
  if (before) {
    (*context->graph)->AddControlEdge(check, node);
  } else {
    AddLateCheck(check->name(), node);
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
    if (found != checked.end()) result.push_back({node, found->second});
  }
  return result;
}

}  // namespace hpu::passes
