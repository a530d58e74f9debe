#include "plugin/passes/precision/bf16_types.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "plugin/passes/graph/graph_util.h"
#include "tensorflow/core/framework/kernel_def.pb.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu::passes {
namespace {

using tensorflow::AttrValue;
using tensorflow::DataType;
using tensorflow::Node;
using tensorflow::OpDef;

constexpr char kMainType[] = "T";

// Ops whose types must not change: the program chose a cast's types, and a bitcast reinterprets its operand's bits.
bool HasFixedTypes(const Node& node) {
  static const auto* ops = new absl::flat_hash_set<std::string_view>({"Bitcast", "Cast", "Placeholder"});
  return ops->contains(node.type_string()) || node.IsArg() || node.IsRetval() || node.IsConstant() ||
         node.IsControlFlow() || node.IsSend() || node.IsRecv();
}

// Ops that XLA registers for bfloat16 but cannot compile: the lowering multiplies a bfloat16 operand by a float32
// operand.
bool FailsInBfloat16(const Node& node) { return node.type_string() == "LRN" || node.type_string() == "LRNGrad"; }

bool IsPlainData(DataType type) {
  return !tensorflow::IsRefType(type) && type != tensorflow::DT_RESOURCE && type != tensorflow::DT_VARIANT &&
         type != tensorflow::DT_STRING;
}

bool HasFunction(const Node& node) {
  return absl::c_any_of(node.attrs(),
                        [](const auto& attr) { return attr.second.has_func() || attr.second.list().func_size() > 0; });
}

bool Allows(const OpDef::AttrDef& attr, DataType type) {
  const auto& allowed = attr.allowed_values().list().type();
  return allowed.empty() || absl::c_linear_search(allowed, type);
}

// The attribute's value with bfloat16 instead of float32. nullopt if the value has no float32 or the attribute does not
// allow bfloat16.
std::optional<AttrValue> Converted(const OpDef::AttrDef& attr, const Node& node) {
  const AttrValue* value = node.attrs().Find(attr.name());
  if (value == nullptr || !Allows(attr, tensorflow::DT_BFLOAT16)) return std::nullopt;
  AttrValue result = *value;
  if (attr.type() == "type" && value->type() == tensorflow::DT_FLOAT) {
    result.set_type(tensorflow::DT_BFLOAT16);
    return result;
  }
  if (attr.type() == "list(type)" && absl::c_linear_search(value->list().type(), tensorflow::DT_FLOAT)) {
    auto* types = result.mutable_list()->mutable_type();
    std::replace(types->begin(), types->end(), static_cast<int>(tensorflow::DT_FLOAT),
                 static_cast<int>(tensorflow::DT_BFLOAT16));
    return result;
  }
  return std::nullopt;
}

std::vector<bool> Changed(tensorflow::DataTypeSlice before, tensorflow::DataTypeSlice after) {
  std::vector<bool> changed(before.size());
  for (size_t i = 0; i < before.size(); ++i) changed[i] = before[i] != after[i];
  return changed;
}

}  // namespace

std::optional<Bf16Types> FindBf16Types(const Node& node) {
  if (HasFixedTypes(node) || FailsInBfloat16(node) || HasFunction(node)) return std::nullopt;
  if (!absl::c_all_of(node.input_types(), IsPlainData) || !absl::c_all_of(node.output_types(), IsPlainData)) {
    return std::nullopt;
  }
  const AttrValue* main_type = node.attrs().Find(kMainType);
  const bool only_main = main_type != nullptr && tensorflow::DataTypeIsFloating(main_type->type());
  Bf16Types types;
  for (const OpDef::AttrDef& attr : node.op_def().attr()) {
    if (only_main && attr.name() != kMainType) continue;
    std::optional<AttrValue> value = Converted(attr, node);
    if (value) types.attrs.emplace_back(attr.name(), *std::move(value));
  }
  if (types.attrs.empty()) return std::nullopt;
  tensorflow::NodeDef converted = node.def();
  for (const auto& [name, value] : types.attrs) (*converted.mutable_attr())[name] = value;
  tensorflow::DataTypeVector inputs;
  tensorflow::DataTypeVector outputs;
  if (!tensorflow::InOutTypesForNode(converted, node.op_def(), &inputs, &outputs).ok()) return std::nullopt;
  types.inputs = Changed(node.input_types(), inputs);
  types.outputs = Changed(node.output_types(), outputs);
  const auto is_true = [](bool value) { return value; };
  if (absl::c_none_of(types.inputs, is_true) && absl::c_none_of(types.outputs, is_true)) return std::nullopt;
  // Rejects ops without a lowering. Accepts collective reductions, because their kernels are registered for
  // DEVICE_DEFAULT.
  if (!tensorflow::KernelDefAvailable(tensorflow::DeviceType(CompilationDevice()), converted)) return std::nullopt;
  return types;
}

void SetBf16Types(const Bf16Types& types, Node* node) {
  for (const auto& [name, value] : types.attrs) node->AddAttr(name, value);
  node->ClearTypeInfo();
}

}  // namespace hpu::passes
