#include "plugin/passes/clustering/check_order.h"

#include "absl/strings/str_cat.h"

namespace hpu::passes {

void OrderCheck(PassContext* context, tensorflow::Node* node, tensorflow::Node* check, absl::string_view what,
                bool before) {
  if (before) (*context->graph)->AddControlEdge(check, node);
  AddRewrite(&context->report, node->name(), node->type_string(), "checks",
             absl::StrCat(what, " checked by ", check->name(), before ? " before" : " after", " the cluster"));
}

}  // namespace hpu::passes
