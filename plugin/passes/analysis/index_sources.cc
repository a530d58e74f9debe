#include "plugin/passes/analysis/index_sources.h"

#include "plugin/checks/index_rule.h"
#include "plugin/checks/whole_number.h"
#include "plugin/passes/analysis/op_rules.h"
#include "plugin/passes/graph/graph_util.h"

namespace hpu::passes {
namespace {

using tensorflow::OutputTensor;

tensorflow::DataType TypeOf(const OutputTensor& tensor) { return tensor.node->output_type(tensor.index); }

// Integers below this limit are exact in a floating-point type. 0 for other types.
int64_t ExactIntegers(tensorflow::DataType type) {
  switch (type) {
    case tensorflow::DT_DOUBLE:
      return int64_t{1} << 53;
    case tensorflow::DT_FLOAT:
      return int64_t{1} << 24;
    case tensorflow::DT_HALF:
      return int64_t{1} << 11;
    case tensorflow::DT_BFLOAT16:
      return int64_t{1} << 8;
    default:
      return 0;
  }
}

// The other operand of a node that has `index` and a constant index as operands; nullopt for other nodes.
std::optional<int64_t> ConstantBeside(const OutputTensor& index, const tensorflow::Node& node) {
  const int constant = InputOf(node, 0) == index ? 1 : 0;
  if (!(InputOf(node, 1 - constant) == index)) return std::nullopt;
  const std::optional<tensorflow::Tensor> value = ConstantOf(*InputOf(node, constant).node);
  if (!value.has_value() || value->NumElements() != 1 || !checks::IsIndexType(value->dtype())) return std::nullopt;
  return checks::WholeNumber(*value);
}

}  // namespace

OutputTensor IntegersOf(const OutputTensor& numbers, int64_t size) {
  OutputTensor source = numbers;
  while (!checks::IsIndexType(TypeOf(source))) {
    if (size >= ExactIntegers(TypeOf(source)) || !KeepsValues(source)) return numbers;
    source = InputOf(*source.node, 0);
  }
  return source;
}

std::optional<WrappedIndex> FindWrappedIndex(const OutputTensor& tensor) {
  if (tensor.node->type_string() != "SelectV2") return std::nullopt;
  const OutputTensor index = InputOf(*tensor.node, 2);
  const tensorflow::Node& less = *InputOf(*tensor.node, 0).node;
  const tensorflow::Node& sum = *InputOf(*tensor.node, 1).node;
  if (less.type_string() != "Less" || sum.type_string() != "AddV2") return std::nullopt;
  if (!(InputOf(less, 0) == index) || ConstantBeside(index, less) != 0) return std::nullopt;
  const std::optional<int64_t> size = ConstantBeside(index, sum);
  return size.has_value() ? std::make_optional(WrappedIndex{index, *size}) : std::nullopt;
}

}  // namespace hpu::passes
