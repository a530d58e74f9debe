#include "plugin/passes/analysis/value_tests.h"

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/version/contact.h"
#include "plugin/checks/value_rule.h"
#include "plugin/passes/analysis/shape_formulas.h"
#include "plugin/passes/graph/graph_util.h"

namespace hpu::passes {
namespace {

using tensorflow::Node;
using tensorflow::NodeBuilder;
using tensorflow::OutputTensor;
using tensorflow::Tensor;
using Test = ValueRule::Test;

Tensor VectorConstant(int32_t element) {
  Tensor vector(tensorflow::DT_INT32, {1});
  vector.flat<int32_t>()(0) = element;
  return vector;
}

Tensor VectorConstant(int64_t rows, int64_t columns, tensorflow::DataType type) {
  Tensor vector(type, {2});
  if (type == tensorflow::DT_INT32) {
    vector.flat<int32_t>()(0) = static_cast<int32_t>(rows);
    vector.flat<int32_t>()(1) = static_cast<int32_t>(columns);
  } else {
    vector.flat<int64_t>()(0) = rows;
    vector.flat<int64_t>()(1) = columns;
  }
  return vector;
}

// Builder of the graph nodes that test a tensor's values.
class TestMaker {
 public:
  TestMaker(const NodeMaker& maker, NodeBuilder::NodeOut values) : maker_(maker), values_(values) {}

  // Adds a node that computes whether `comparison` with 0 is true for all elements.
  absl::StatusOr<Node*> AllAgainstZero(const std::string& comparison) const {
    Tensor zero(values_.node->output_type(values_.index), {});
    std::memset(zero.data(), 0, zero.TotalBytes());
    HPU_ASSIGN_OR_RETURN(Node * constant, maker_.Constant("zero", zero));
    NodeBuilder builder = maker_.New("compared", comparison);
    HPU_ASSIGN_OR_RETURN(Node * compared, maker_.Add(builder.Input(values_).Input(constant)));
    return Reduce("All", compared);
  }

  // Adds a node that reduces `predicate` over all elements by `reduction` (Any or All).
  absl::StatusOr<Node*> Reduced(const std::string& reduction, const std::string& predicate) const {
    NodeBuilder builder = maker_.New("compared", predicate);
    HPU_ASSIGN_OR_RETURN(Node * compared, maker_.Add(builder.Input(values_)));
    return Reduce(reduction, compared);
  }

 private:
  absl::StatusOr<Node*> Reduce(const std::string& reduction, Node* elements) const {
    HPU_ASSIGN_OR_RETURN(Node * flat_shape, maker_.Constant("shape", VectorConstant(-1)));
    HPU_ASSIGN_OR_RETURN(Node * axis, maker_.Constant("axis", VectorConstant(0)));
    HPU_ASSIGN_OR_RETURN(Node * flat, maker_.Binary("flat", "Reshape", elements, flat_shape));
    return maker_.Binary("all", reduction, flat, axis);
  }

  const NodeMaker& maker_;
  const NodeBuilder::NodeOut values_;
};

}  // namespace

bool ValueTests::IsBandOf(Node* node, const Tensor& lower, const Tensor& upper) {
  // A band that is valid for a 0x0 matrix is valid for every matrix, so no shape is needed.
  if (checks::IsBand(lower, upper, tensorflow::TensorShape({0, 0}))) return true;
  const MatrixSize& size = SizeOf(*node);
  return !size.known() || checks::IsBand(lower, upper, tensorflow::TensorShape({size.rows, size.columns}));
}

const ValueTests::MatrixSize& ValueTests::SizeOf(const Node& node) {
  const auto [found, is_new] = sizes_.try_emplace(&node);
  if (is_new) {
    ShapeFormulas shapes(graph_, {const_cast<Node*>(&node)});
    found->second = {shapes.FixedInputSize(node, 0, -2), shapes.FixedInputSize(node, 0, -1)};
  }
  return found->second;
}

std::optional<bool> ValueTests::Known(Node* node, const ValueRule& rule) {
  if (rule.test == Test::kFactored) return std::nullopt;
  const OutputTensor input = InputOf(*node, rule.input);
  const bool never_negative = tensorflow::DataTypeIsUnsigned(input.node->output_type(input.index));
  if (rule.test == Test::kNonNegative && never_negative) return true;
  const std::optional<Tensor> value = ConstantOf(*input.node);
  if (rule.test != Test::kOrdered && rule.test != Test::kBand) {
    return value.has_value() ? std::optional<bool>(checks::Satisfies(rule, *value)) : std::nullopt;
  }
  const std::optional<Tensor> next = ConstantOf(*InputOf(*node, rule.input + 1).node);
  if (!value.has_value() || !next.has_value()) return std::nullopt;
  return rule.test == Test::kBand ? IsBandOf(node, *value, *next) : checks::IsOrdered(*value, *next);
}

absl::StatusOr<Node*> ValueTests::MakeFactored(const Node& node, const ValueRule& rule, const NodeMaker& maker) {
  HPU_ASSIGN_OR_RETURN(Node * failed, TestMaker(maker, {const_cast<Node*>(&node), 0}).Reduced("Any", "IsNan"));
  for (int i = rule.input; i < node.num_inputs(); ++i) {
    const OutputTensor input = InputOf(node, i);
    HPU_ASSIGN_OR_RETURN(Node * finite, TestMaker(maker, {input.node, input.index}).Reduced("All", "IsFinite"));
    HPU_ASSIGN_OR_RETURN(failed, maker.Binary("failed", "LogicalAnd", failed, finite));
  }
  NodeBuilder builder = maker.New("passes", "LogicalNot");
  return maker.Add(builder.Input(failed));
}

// Numbers of rows and columns of the node's first input, as a vector.
absl::StatusOr<Node*> ValueTests::SizeNode(const Node& node, tensorflow::DataType type, const NodeMaker& maker) {
  if (const MatrixSize& size = SizeOf(node); size.known())
    return maker.Constant("size", VectorConstant(size.rows, size.columns, type));
  const OutputTensor matrices = InputOf(node, 0);
  NodeBuilder shape_builder = maker.New("shape", "Shape");
  shape_builder.Input(matrices.node, matrices.index).Attr("out_type", type);
  HPU_ASSIGN_OR_RETURN(Node * shape, maker.Add(shape_builder));
  HPU_ASSIGN_OR_RETURN(Node * begin, maker.Constant("begin", VectorConstant(-2)));
  HPU_ASSIGN_OR_RETURN(Node * end, maker.Constant("end", VectorConstant(0)));
  HPU_ASSIGN_OR_RETURN(Node * stride, maker.Constant("stride", VectorConstant(1)));
  NodeBuilder builder = maker.New("size", "StridedSlice");
  return maker.Add(builder.Input(shape).Input(begin).Input(end).Input(stride).Attr("end_mask", 1));
}

absl::StatusOr<Node*> ValueTests::MakeBand(const Node& node, const ValueRule& rule, const NodeMaker& maker) {
  const OutputTensor lower = InputOf(node, rule.input), upper = InputOf(node, rule.input + 1);
  const std::vector<NodeBuilder::NodeOut> both = {{lower.node, lower.index}, {upper.node, upper.index}};
  NodeBuilder builder = maker.New("bounds", "Pack");
  HPU_ASSIGN_OR_RETURN(Node * bounds, maker.Add(builder.Input(both)));
  HPU_ASSIGN_OR_RETURN(Node * size, SizeNode(node, bounds->output_type(0), maker));
  HPU_ASSIGN_OR_RETURN(Node * compared, maker.Binary("compared", "LessEqual", bounds, size));
  HPU_ASSIGN_OR_RETURN(Node * axis, maker.Constant("axis", VectorConstant(0)));
  return maker.Binary("passes", "All", compared, axis);
}

absl::StatusOr<Node*> ValueTests::MakeOrdered(const Node& node, const ValueRule& rule, const NodeMaker& maker) {
  const OutputTensor low = InputOf(node, rule.input), high = InputOf(node, rule.input + 1);
  NodeBuilder greater = maker.New("greater", "Greater");
  HPU_ASSIGN_OR_RETURN(Node * empty, maker.Add(greater.Input(low.node, low.index).Input(high.node, high.index)));
  NodeBuilder builder = maker.New("passes", "LogicalNot");
  return maker.Add(builder.Input(empty));
}

absl::StatusOr<Node*> ValueTests::MakeForElements(const Node& node, const ValueRule& rule, const NodeMaker& maker) {
  const auto test = [&] {  // kFactored may have no input to test
    const OutputTensor input = InputOf(node, rule.input);
    return TestMaker(maker, {input.node, input.index});
  };
  switch (rule.test) {
    case Test::kNonzero:
      return test().AllAgainstZero("NotEqual");
    case Test::kNonNegative:
      return test().AllAgainstZero("GreaterEqual");
    case Test::kPositive:
      return test().AllAgainstZero("Greater");
    case Test::kFinite:
      return test().Reduced("All", "IsFinite");
    case Test::kOrdered:
      return MakeOrdered(node, rule, maker);
    case Test::kBand:
      return MakeBand(node, rule, maker);
    case Test::kFactored:
      return MakeFactored(node, rule, maker);
  }
  return absl::InternalError(absl::StrCat(node.name(), ": unknown value rule; " HPU_REPORT_BUG));
}

std::optional<bool> ValueTests::OtherHasElements(const Node& node, const ValueRule& rule) {
  if (rule.other < 0) return true;
  const int64_t elements = shapes_->Get().InputShape(node, rule.other).num_elements();
  return elements < 0 ? std::nullopt : std::optional<bool>(elements > 0);
}

// Adds a node that computes whether `passes` is true or `other` is empty.
absl::StatusOr<Node*> ValueTests::AcceptEmpty(OutputTensor other, Node* passes, const NodeMaker& maker) {
  NodeBuilder builder = maker.New("elements", "Size");
  HPU_ASSIGN_OR_RETURN(Node * elements, maker.Add(builder.Input(other.node, other.index)));
  HPU_ASSIGN_OR_RETURN(Node * empty, TestMaker(maker, {elements, 0}).AllAgainstZero("Equal"));
  return maker.Binary("accepted", "LogicalOr", passes, empty);
}

absl::StatusOr<Node*> ValueTests::Make(const Node& node, const ValueRule& rule, const NodeMaker& maker) {
  HPU_ASSIGN_OR_RETURN(Node * passes, MakeForElements(node, rule, maker));
  if (OtherHasElements(node, rule).has_value()) return passes;
  return AcceptEmpty(InputOf(node, rule.other), passes, maker);
}

}  // namespace hpu::passes
