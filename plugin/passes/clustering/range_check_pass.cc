#include "plugin/passes/clustering/range_check_pass.h"

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/checks/draw_range.h"
#include "plugin/passes/clustering/check_order.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/node_maker.h"

namespace hpu::passes {
namespace {

using tensorflow::Node;
using tensorflow::NodeBuilder;
using tensorflow::OutputTensor;
using tensorflow::Tensor;

// Inputs of StatelessRandomUniformIntV2.
constexpr int kShape = 0;
constexpr int kMinval = 4;
constexpr int kMaxval = 5;

bool DrawsFromRange(const Node& node) { return node.type_string() == "StatelessRandomUniformIntV2"; }

// Whether the draw cannot fail: the range is not empty, or the result is empty. nullopt if this is known only at run
// time.
std::optional<bool> CannotFail(const Node& node) {
  if (const std::optional<Tensor> shape = ConstantOf(*InputOf(node, kShape).node); shape.has_value()) {
    if (!checks::HasElements(*shape)) return true;
  }
  const std::optional<Tensor> low = ConstantOf(*InputOf(node, kMinval).node);
  const std::optional<Tensor> high = ConstantOf(*InputOf(node, kMaxval).node);
  if (!low.has_value() || !high.has_value()) return std::nullopt;
  return checks::CheckDrawRange(*low, *high).ok();
}

// The first input of the check that is not constant.
Node* FirstVariableInput(const Node& node) {
  for (const int index : {kMinval, kMaxval, kShape}) {
    if (Node* input = InputOf(node, index).node; !input->IsConstant()) return input;
  }
  return nullptr;
}

absl::Status AddCheck(PassContext* context, Node* node, bool lowered, const UpdateFollowers& followers) {
  // In lowered loops and branches, the check must run in the frame and branch of the op.
  const NodeMaker maker(context->graph->get(), absl::StrCat(node->name(), "/habana_check"),
                        HostOf(node->assigned_device_name()), lowered ? FirstVariableInput(*node) : nullptr);
  NodeBuilder builder = maker.New("range", kCheckRangeOp);
  bool before = !followers.Contains(*node);
  for (const int index : {kMinval, kMaxval, kShape}) {
    const OutputTensor input = InputOf(*node, index);
    if (const std::optional<Tensor> constant = ConstantOf(*input.node); constant.has_value()) {
      HPU_ASSIGN_OR_RETURN(Node * copy, maker.Constant(absl::StrCat("range_", index), *constant));
      builder.Input(copy, 0);
    } else {
      before = before && IsOnHost(input);
      builder.Input(input.node, input.index);
    }
  }
  HPU_ASSIGN_OR_RETURN(Node * check, maker.Add(builder.Attr("node", node->name())));
  OrderCheck(context, node, check, "range is", before);
  return absl::OkStatus();
}

}  // namespace

bool MayHaveEmptyRange(const Node& node) { return DrawsFromRange(node) && !CannotFail(node).value_or(false); }

absl::Status AddRangeChecks(PassContext* context) {
  std::vector<Node*> nodes;
  for (Node* node : (*context->graph)->op_nodes()) {
    if (IsOnHpu(*node) && MayHaveEmptyRange(*node)) nodes.push_back(node);
  }
  if (nodes.empty()) return absl::OkStatus();
  const bool lowered = HasLoweredControlFlow(**context->graph);
  const UpdateFollowers followers(**context->graph);
  for (Node* node : nodes) {
    // The CPU kernel accepts an empty range of unsigned numbers, for which compiled code has other numbers.
    if (CannotFail(*node).has_value() || tensorflow::DataTypeIsUnsigned(node->output_type(0))) {
      node->AddAttr(kUncheckedAttr, true);
    } else {
      HPU_RETURN_IF_ERROR(AddCheck(context, node, lowered, followers));
    }
  }
  return absl::OkStatus();
}

}  // namespace hpu::passes
