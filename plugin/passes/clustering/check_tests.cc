#include "plugin/passes/clustering/check_tests.h"

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/clustering/segment_sizes.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/node_maker.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::Graph;
using tensorflow::Node;
using tensorflow::NodeBuilder;
using tensorflow::OutputTensor;
using tensorflow::Tensor;

// An input of a check, and the input of the checked op with the same value.
struct CheckedInput {
  int of_check;
  int of_checked;
};

// Inputs of HabanaCheckRange and StatelessRandomUniformIntV2.
constexpr CheckedInput kLowerEnd{0, 4};
constexpr CheckedInput kUpperEnd{1, 5};
constexpr CheckedInput kDrawnShape{2, 0};

// The sizes of HabanaCheckIndices, and the input that bounds the indices of an op.
CheckedInput SizesOf(const Node& checked) { return {1, IndexedOpOf(checked.type_string())->bound}; }

Tensor ScalarConstant(tensorflow::DataType type, int32_t value) {
  Tensor scalar(type, {});
  if (type == tensorflow::DT_INT64) {
    scalar.scalar<int64_t>()() = value;
  } else {
    scalar.scalar<int32_t>()() = value;
  }
  return scalar;
}

// Makes the nodes of one test.
class ClusterTest {
 public:
  ClusterTest(const Node& check, const Node& checked, const std::string& cluster, Graph* graph)
      : check_(check),
        checked_(checked),
        cluster_(cluster),
        maker_(graph, absl::StrCat(checked.name(), "/habana_guard"), checked.assigned_device_name(),
               AnchorOf(checked)) {}

  absl::StatusOr<Node*> Indices() const {
    const OutputTensor indices = InputOf(checked_, IndexedOpOf(checked_.type_string())->indices);
    std::string kind;
    int64_t axis = 0;
    HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(check_.attrs(), "kind", &kind));
    HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(check_.attrs(), "axis", &axis));
    HPU_ASSIGN_OR_RETURN(const NodeBuilder::NodeOut sizes, Sizes());
    NodeBuilder builder = maker_.New("in_range", kIndicesInRangeOp);
    builder.Input(indices.node, indices.index).Input(sizes).Attr("kind", kind).Attr("axis", axis);
    return Add(builder);
  }

  absl::StatusOr<Node*> Range() const {
    HPU_ASSIGN_OR_RETURN(const NodeBuilder::NodeOut low, Input(kLowerEnd));
    HPU_ASSIGN_OR_RETURN(const NodeBuilder::NodeOut high, Input(kUpperEnd));
    NodeBuilder less = maker_.New("less", "Less");
    HPU_ASSIGN_OR_RETURN(Node * passes, Add(less.Input(low).Input(high)));
    if (InputOf(check_, kDrawnShape.of_check).node->IsConstant()) return passes;  // of a result with elements
    const OutputTensor shape = InputOf(checked_, kDrawnShape.of_checked);
    HPU_ASSIGN_OR_RETURN(Node * axis, Place(maker_.Constant("axis", ScalarConstant(tensorflow::DT_INT32, 0))));
    NodeBuilder product = maker_.New("elements", "Prod");
    HPU_ASSIGN_OR_RETURN(Node * elements, Add(product.Input(shape.node, shape.index).Input(axis)));
    HPU_ASSIGN_OR_RETURN(Node * zero, Place(maker_.Constant("zero", ScalarConstant(elements->output_type(0), 0))));
    HPU_ASSIGN_OR_RETURN(Node * empty, Place(maker_.Binary("empty", "Equal", elements, zero)));
    return Place(maker_.Binary("passes", "LogicalOr", passes, empty));
  }

 private:
  absl::StatusOr<Node*> Place(absl::StatusOr<Node*> node) const {
    if (node.ok()) (*node)->AddAttr(kClusterAttr, cluster_);
    return node;
  }
  absl::StatusOr<Node*> Add(NodeBuilder& builder) const { return Place(maker_.Add(builder)); }
  // In a lowered loop, constants must be in the loop's frame.
  static Node* AnchorOf(const Node& checked) {
    const IndexedOp* op = IndexedOpOf(checked.type_string());
    return InputOf(checked, op == nullptr ? kLowerEnd.of_checked : op->indices).node;
  }

  // A copy of the check's input if it is a constant; otherwise the input of the checked op.
  absl::StatusOr<NodeBuilder::NodeOut> Input(const CheckedInput& input) const {
    if (const auto constant = ConstantOf(*InputOf(check_, input.of_check).node); constant.has_value()) {
      HPU_ASSIGN_OR_RETURN(Node * copy, Place(maker_.Constant("constant", *constant)));
      return NodeBuilder::NodeOut(copy, 0);
    }
    const OutputTensor checked = InputOf(checked_, input.of_checked);
    return NodeBuilder::NodeOut(checked.node, checked.index);
  }

  // The sizes that bound the indices.
  absl::StatusOr<NodeBuilder::NodeOut> Sizes() const {
    const Node& sizes = *InputOf(check_, SizesOf(checked_).of_check).node;
    HPU_ASSIGN_OR_RETURN(const NodeBuilder::NodeOut bounds, Bounds());
    if (!AreSegmentSizes(sizes)) return bounds;
    std::vector<Node*> made;
    HPU_ASSIGN_OR_RETURN(Node * segments, SegmentSizes(maker_, maker_, bounds, InputOf(checked_, 0), &made));
    for (Node* node : made) node->AddAttr(kClusterAttr, cluster_);
    return NodeBuilder::NodeOut(segments, 0);
  }

  // The sizes of the tensor with the indices' dimension, or the number of segments.
  absl::StatusOr<NodeBuilder::NodeOut> Bounds() const {
    const IndexedOp& op = *IndexedOpOf(checked_.type_string());
    HPU_ASSIGN_OR_RETURN(const NodeBuilder::NodeOut bound, Input(SizesOf(checked_)));
    if (InputOf(check_, SizesOf(checked_).of_check).node->IsConstant()) return bound;
    if (!op.sizes) {
      NodeBuilder shape = maker_.New("shape", "Shape");
      HPU_ASSIGN_OR_RETURN(Node * sizes, Add(shape.Input(bound).Attr("out_type", tensorflow::DT_INT32)));
      return NodeBuilder::NodeOut(sizes, 0);
    }
    if (bound.node->output_type(bound.index) == tensorflow::DT_INT32) return bound;
    HPU_ASSIGN_OR_RETURN(Node * sizes, Place(maker_.Cast("sizes", bound, tensorflow::DT_INT32)));
    return NodeBuilder::NodeOut(sizes, 0);
  }

  const Node& check_;
  const Node& checked_;
  const std::string& cluster_;
  const NodeMaker maker_;
};

}  // namespace

bool HasTest(const Node& check) { return check.type_string() == kCheckValuesOp || check.type_string() == kAssertOp; }

std::vector<Node*> InputsOfTest(const Node& check, const Node& checked) {
  if (HasTest(check)) return {InputOf(check, 0).node};
  std::vector<Node*> inputs;
  const auto add = [&](const CheckedInput& input) {
    if (!InputOf(check, input.of_check).node->IsConstant()) {
      inputs.push_back(InputOf(checked, input.of_checked).node);
    }
  };
  if (check.type_string() == kCheckRangeOp) {
    for (const CheckedInput& input : {kLowerEnd, kUpperEnd, kDrawnShape}) add(input);
  } else {
    inputs.push_back(InputOf(checked, IndexedOpOf(checked.type_string())->indices).node);
    add(SizesOf(checked));
    if (AreSegmentSizes(*InputOf(check, SizesOf(checked).of_check).node)) inputs.push_back(InputOf(checked, 0).node);
  }
  return inputs;
}

absl::StatusOr<Node*> MakeTest(const Node& check, const Node& checked, const std::string& cluster, Graph* graph) {
  if (HasTest(check)) return InputOf(check, 0).node;
  const ClusterTest maker(check, checked, cluster, graph);
  return check.type_string() == kCheckRangeOp ? maker.Range() : maker.Indices();
}

}  // namespace hpu::passes
