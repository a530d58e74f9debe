#include "plugin/passes/precision/narrowing_rules.h"

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "absl/algorithm/container.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::DataType;
using tensorflow::Node;
using tensorflow::PartialTensorShape;
using tensorflow::Tensor;

constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();

bool MayBe(const tensorflow::OpDef::AttrDef& attribute, DataType type) {
  return !attribute.has_allowed_values() || absl::c_linear_search(attribute.allowed_values().list().type(), type);
}

bool HasBoolOutput(const Node& node) { return node.num_outputs() == 1 && node.output_type(0) == tensorflow::DT_BOOL; }

// The size of the dimension in which ArgMax or ArgMin finds positions; -1 if unknown.
int64_t PositionBound(const Node& node, const StaticShapes& shapes) {
  const PartialTensorShape shape = shapes.InputShape(node, 0);
  const Node* axis_node = nullptr;
  Tensor axis;
  if (shape.unknown_rank() || !node.input_node(1, &axis_node).ok() || !axis_node->IsConstant() ||
      !tensorflow::GetNodeAttr(axis_node->attrs(), "value", &axis).ok() || axis.NumElements() != 1) {
    return -1;
  }
  int64_t index = axis.dtype() == tensorflow::DT_INT64   ? axis.flat<int64_t>()(0)
                  : axis.dtype() == tensorflow::DT_INT32 ? axis.flat<int32_t>()(0)
                                                         : shape.dims();
  if (index < 0) index += shape.dims();
  return index < 0 || index >= shape.dims() ? -1 : shape.dim_size(static_cast<int>(index));
}

template <typename Wide, typename Narrow>
Tensor Convert(const Tensor& value) {
  Tensor narrow(tensorflow::DataTypeToEnum<Narrow>::v(), value.shape());
  const auto from = value.flat<Wide>();
  auto to = narrow.flat<Narrow>();
  for (int64_t i = 0; i < from.size(); ++i) to(i) = static_cast<Narrow>(from(i));
  return narrow;
}

bool FitsFloat(double value) {
  if (value == 0 || std::isinf(value) || std::isnan(value)) return true;
  return std::fabs(value) >= FLT_MIN && std::fabs(value) <= FLT_MAX &&
         static_cast<double>(static_cast<float>(value)) == value;
}

}  // namespace

DataType NarrowType(DataType type) {
  if (type == tensorflow::DT_INT64) return tensorflow::DT_INT32;
  if (type == tensorflow::DT_DOUBLE) return tensorflow::DT_FLOAT;
  return type;
}

std::vector<WideAttribute> WideAttributes(const Node& node, const OpListData& list) {
  std::vector<WideAttribute> attributes;
  const std::optional<NarrowingRule>& rule = FactsOf(node.type_string()).narrowing;
  for (const auto& attribute : node.op_def().attr()) {
    DataType type;
    if (attribute.type() != "type" || !tensorflow::TryGetNodeAttr(node.attrs(), attribute.name(), &type)) continue;
    if (!IsWide(type) || !MayBe(attribute, NarrowType(type))) continue;
    if (rule && attribute.name() == rule->attribute) {
      if (type == tensorflow::DT_DOUBLE && (rule->integers_only || HasBoolOutput(node))) continue;
      attributes.push_back({attribute.name(), rule->role});
    } else if (type == tensorflow::DT_INT64 && IsIndexAttribute(list, attribute.name()) &&
               absl::c_none_of(node.op_def().output_arg(),
                               [&](const auto& output) { return output.type_attr() == attribute.name(); })) {
      attributes.push_back({attribute.name(), NarrowingRule::Role::kOperand});
    }
  }
  return attributes;
}

bool FitsNarrow(const Tensor& value) {
  if (value.dtype() == tensorflow::DT_INT64) {
    const auto values = value.flat<int64_t>();
    return std::all_of(values.data(), values.data() + values.size(),
                       [](int64_t v) { return v >= std::numeric_limits<int32_t>::min() && v <= kLargest; });
  }
  if (value.dtype() != tensorflow::DT_DOUBLE) return false;
  const auto values = value.flat<double>();
  return std::all_of(values.data(), values.data() + values.size(), FitsFloat);
}

Tensor ToNarrow(const Tensor& value) {
  return value.dtype() == tensorflow::DT_INT64 ? Convert<int64_t, int32_t>(value) : Convert<double, float>(value);
}

bool OutputsFitNarrow(const Node& node, const StaticShapes& shapes) {
  if (node.type_string() == "ArgMax" || node.type_string() == "ArgMin") {
    const int64_t bound = PositionBound(node, shapes);
    return bound >= 0 && bound <= kLargest;
  }
  for (int input = 0; input < node.num_inputs(); ++input) {
    const PartialTensorShape shape = shapes.InputShape(node, input);
    if (!shape.IsFullyDefined()) return false;
    if (node.type_string() == "Size" && shape.num_elements() > kLargest) return false;
    if (absl::c_any_of(shape.dim_sizes(), [](int64_t size) { return size > kLargest; })) return false;
  }
  return true;
}

}  // namespace hpu::passes
