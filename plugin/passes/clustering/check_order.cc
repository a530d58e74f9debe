#include "plugin/passes/clustering/check_order.h"

#include "absl/strings/str_cat.h"

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

}  // namespace

void OrderCheck(PassContext* context, tensorflow::Node* node, tensorflow::Node* check, absl::string_view what,
                bool before) {
  if (before) (*context->graph)->AddControlEdge(check, node);
  SetOrigin(*node, check);
  AddRewrite(&context->report, node->name(), node->type_string(), "checks",
             absl::StrCat(what, " checked by ", check->name(), before ? " before" : " after", " the cluster"));
}

}  // namespace hpu::passes
