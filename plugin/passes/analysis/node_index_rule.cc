#include "plugin/passes/analysis/node_index_rule.h"

#include "plugin/passes/graph/graph_util.h"

namespace hpu::passes {

std::optional<IndexRule> IndexRuleOf(const tensorflow::Node& node, const IndexedOp& op) {
  if (node.type_string() == kInnerIndicesOp) {
    const absl::StatusOr<IndexRule> rule = checks::RuleIn(node.attrs());
    return rule.ok() ? std::make_optional(*rule) : std::nullopt;
  }
  std::optional<tensorflow::Tensor> axis;
  if (op.axis != nullptr && node.attrs().Find(op.axis) == nullptr) axis = ConstantOf(*InputOf(node, 2).node);
  return checks::RuleOf(op, node.attrs(), axis.has_value() ? &*axis : nullptr);
}

}  // namespace hpu::passes
