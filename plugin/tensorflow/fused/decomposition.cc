#include "plugin/tensorflow/fused/decomposition.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/proto_text.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/version/contact.h"
#include "tensorflow/core/framework/node_def_builder.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_def_util.h"
#include "tensorflow/core/framework/tensor.h"

namespace hpu {
namespace {

using passes::OpExpression;
using passes::OpStatement;
using tensorflow::AttrValue;
using tensorflow::DataType;
using tensorflow::NodeDef;
using tensorflow::OpDef;
using tensorflow::Tensor;
using Kind = OpExpression::Kind;
using Value = Decomposition::Value;

absl::StatusOr<Tensor> Filled(const std::string& op, DataType type, const tensorflow::TensorShape& shape,
                              const std::vector<double>& numbers) {
  Tensor tensor(type, shape);
  for (size_t i = 0; i < numbers.size(); ++i) {
    switch (type) {
      case tensorflow::DT_FLOAT:
        tensor.flat<float>()(i) = static_cast<float>(numbers[i]);
        break;
      case tensorflow::DT_DOUBLE:
        tensor.flat<double>()(i) = numbers[i];
        break;
      case tensorflow::DT_BFLOAT16:
        tensor.flat<tensorflow::bfloat16>()(i) = static_cast<tensorflow::bfloat16>(static_cast<float>(numbers[i]));
        break;
      case tensorflow::DT_HALF:
        tensor.flat<Eigen::half>()(i) = static_cast<Eigen::half>(static_cast<float>(numbers[i]));
        break;
      case tensorflow::DT_INT32:
        tensor.flat<int32_t>()(i) = static_cast<int32_t>(numbers[i]);
        break;
      default:
        return absl::InvalidArgumentError(absl::StrCat(op, ": a constant of the decomposition has dtype ",
                                                       tensorflow::DataTypeString(type),
                                                       ", expected float, double, bfloat16, half or int32"));
    }
  }
  return tensor;
}

template <typename T>
std::vector<double> Numbers(const Tensor& tensor) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < tensor.NumElements(); ++i) numbers.push_back(static_cast<double>(tensor.flat<T>()(i)));
  return numbers;
}

// Converts the attribute `name` of `op` to a constant of type `type`.
absl::StatusOr<Tensor> ConstantOf(const std::string& op, const std::string& name, const AttrValue& value,
                                  DataType type) {
  if (value.value_case() == AttrValue::kF) return Filled(op, type, {}, {value.f()});
  if (value.value_case() == AttrValue::kI) return Filled(op, type, {}, {static_cast<double>(value.i())});
  if (value.value_case() == AttrValue::kList) {
    const std::vector<double> numbers(value.list().i().begin(), value.list().i().end());
    return Filled(op, type, {static_cast<int64_t>(numbers.size())}, numbers);
  }
  Tensor tensor;
  if (value.value_case() != AttrValue::kTensor || !tensor.FromProto(value.tensor())) {
    return absl::InvalidArgumentError(absl::StrCat(
        op, ": attribute ", name,
        " cannot be a constant of the decomposition: expected a float, an int, a list of ints or a tensor, got ",
        ProtoText(value)));
  }
  if (tensor.dtype() == tensorflow::DT_FLOAT) return Filled(op, type, tensor.shape(), Numbers<float>(tensor));
  if (tensor.dtype() == tensorflow::DT_INT32) return Filled(op, type, tensor.shape(), Numbers<int32_t>(tensor));
  if (tensor.dtype() == tensorflow::DT_INT64) return Filled(op, type, tensor.shape(), Numbers<int64_t>(tensor));
  if (tensor.dtype() == tensorflow::DT_BFLOAT16) {
    return Filled(op, type, tensor.shape(), Numbers<tensorflow::bfloat16>(tensor));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(op, ": attribute ", name, " cannot be a constant of the decomposition: expected a tensor of float, ",
                   "int32, int64 or bfloat16, got ", tensorflow::DataTypeString(tensor.dtype())));
}

class Builder {
 public:
  Builder(const std::vector<OpStatement>& statements, const NodeDef& node, const OpDef& op,
          const tensorflow::DataTypeVector& input_types)
      : statements_(statements), node_(node), op_(op), input_types_(input_types) {}

  absl::StatusOr<Decomposition> Build();

 private:
  // Names of the tensors of an argument: "x", or "images0", "images1", … for a list.
  absl::StatusOr<std::vector<std::string>> NamesOf(const OpDef::ArgDef& arg) const;
  absl::StatusOr<Value> Make(const OpExpression& expression);
  absl::StatusOr<Value> MakeNamed(const OpExpression& expression);
  absl::StatusOr<Value> MakeOp(const OpExpression& expression);
  absl::StatusOr<Value> MakeConstant(const OpExpression& expression, DataType type);
  absl::StatusOr<Value> AddStep(tensorflow::NodeDefBuilder& builder, const OpDef& op, std::vector<Value> inputs);
  absl::StatusOr<AttrValue> AttrOf(const std::string& name) const;
  absl::StatusOr<AttrValue> Attr(const OpDef::AttrDef& attr, const std::string& text) const;
  absl::StatusOr<DataType> TypeOf(const OpDef& op, const OpDef::ArgDef& arg,
                                  const std::map<std::string, AttrValue>& attrs) const;

  const std::vector<OpStatement>& statements_;
  const NodeDef& node_;
  const OpDef& op_;
  const tensorflow::DataTypeVector& input_types_;
  Decomposition decomposition_;
  std::map<std::string, Value> inputs_;  // by name
  std::map<std::string, Value> made_;    // by the name of the statement
};

// Returns the declared input of `op` for each of `count` arguments, and sets the length of a list input. An op has at
// most one list input.
absl::StatusOr<std::vector<const OpDef::ArgDef*>> InputsOf(const std::string& fused_op, const OpDef& op, size_t count,
                                                           std::map<std::string, AttrValue>* attrs) {
  const int64_t length = static_cast<int64_t>(count) - op.input_arg_size() + 1;
  std::vector<const OpDef::ArgDef*> inputs;
  for (const OpDef::ArgDef& arg : op.input_arg()) {
    if (!arg.number_attr().empty()) (*attrs)[arg.number_attr()].set_i(length);
    inputs.insert(inputs.end(), arg.number_attr().empty() ? 1 : std::max<int64_t>(length, 0), &arg);
  }
  if (inputs.size() != count) {
    return absl::InternalError(absl::StrCat(fused_op, ": ", op.name(), " in the decomposition: expected ",
                                            op.input_arg_size(), " inputs, got ", count, "; " HPU_REPORT_BUG));
  }
  return inputs;
}

std::string NameOf(const Value& value) { return absl::StrCat("n", value.step); }

bool IsConstant(const OpExpression& expression) {
  return expression.kind == Kind::kNumber || expression.kind == Kind::kCapture;
}

absl::StatusOr<AttrValue> Builder::AttrOf(const std::string& name) const {
  const auto found = node_.attr().find(name);
  if (found == node_.attr().end()) {
    return absl::InternalError(absl::StrCat(node_.op(), ": the decomposition uses the attribute ", name,
                                            ", which the node lacks; " HPU_REPORT_BUG));
  }
  return found->second;
}

absl::StatusOr<AttrValue> Builder::Attr(const OpDef::AttrDef& attr, const std::string& text) const {
  if (text[0] == '$') return AttrOf(text.substr(1));
  AttrValue value;
  int64_t number = 0;
  DataType type;
  if (attr.type() == "bool") {
    value.set_b(text == "true");
  } else if (attr.type() == "type" && tensorflow::DataTypeFromString(text, &type)) {
    value.set_type(type);
  } else if (attr.type() == "int" && absl::SimpleAtoi(text, &number)) {
    value.set_i(number);
  } else if (attr.type() == "string") {
    value.set_s(text);
  } else {
    return absl::InternalError(absl::StrCat(node_.op(), ": invalid value ", text, " of attribute ", attr.name(),
                                            ": expected type ", attr.type(), "; " HPU_REPORT_BUG));
  }
  return value;
}

absl::StatusOr<DataType> Builder::TypeOf(const OpDef& op, const OpDef::ArgDef& arg,
                                         const std::map<std::string, AttrValue>& attrs) const {
  if (arg.type() != tensorflow::DT_INVALID) return arg.type();
  if (const auto found = attrs.find(arg.type_attr()); found != attrs.end()) return found->second.type();
  const OpDef::AttrDef* declared = tensorflow::FindAttr(arg.type_attr(), op);
  if (declared != nullptr && declared->has_default_value()) return declared->default_value().type();
  HPU_ASSIGN_OR_RETURN(const AttrValue type, AttrOf("T"));
  return type.type();
}

absl::StatusOr<Value> Builder::AddStep(tensorflow::NodeDefBuilder& builder, const OpDef& op,
                                       std::vector<Value> inputs) {
  NodeDef definition;
  HPU_RETURN_IF_ERROR(builder.Finalize(&definition));
  Decomposition::Step step;
  step.inputs = std::move(inputs);
  HPU_RETURN_IF_ERROR(
      tensorflow::NodeProperties::CreateFromNodeDef(definition, tensorflow::OpRegistry::Global(), &step.properties));
  decomposition_.steps.push_back(std::move(step));
  return Value{static_cast<int>(decomposition_.steps.size()) - 1, 0,
               decomposition_.steps.back().properties->output_types[0]};
}

absl::StatusOr<Value> Builder::MakeConstant(const OpExpression& expression, DataType type) {
  Tensor tensor;
  if (expression.kind == Kind::kNumber) {
    HPU_ASSIGN_OR_RETURN(tensor, Filled(node_.op(), type, {}, {expression.number}));
  } else {
    HPU_ASSIGN_OR_RETURN(const AttrValue value, AttrOf(expression.name));
    HPU_ASSIGN_OR_RETURN(tensor, ConstantOf(node_.op(), expression.name, value, type));
  }
  const OpDef* op = nullptr;
  HPU_RETURN_IF_ERROR(tensorflow::OpRegistry::Global()->LookUpOpDef("Const", &op));
  tensorflow::NodeDefBuilder builder(absl::StrCat(node_.name(), "/", decomposition_.steps.size()), op);
  builder.Attr("dtype", type).Attr("value", tensor);
  return AddStep(builder, *op, {});
}

absl::StatusOr<std::vector<std::string>> Builder::NamesOf(const OpDef::ArgDef& arg) const {
  if (arg.number_attr().empty()) return std::vector<std::string>{arg.name()};
  HPU_ASSIGN_OR_RETURN(const AttrValue count, AttrOf(arg.number_attr()));
  std::vector<std::string> names;
  for (int64_t i = 0; i < count.i(); ++i) names.push_back(absl::StrCat(arg.name(), i));
  return names;
}

absl::StatusOr<Value> Builder::MakeNamed(const OpExpression& expression) {
  if (const auto input = inputs_.find(expression.name); input != inputs_.end()) return input->second;
  auto found = made_.find(expression.name);
  if (found == made_.end()) {
    for (const OpStatement& statement : statements_) {
      if (statement.name != expression.name) continue;
      HPU_ASSIGN_OR_RETURN(const Value value, Make(statement.expression));
      found = made_.emplace(statement.name, value).first;
      break;
    }
  }
  if (found == made_.end()) {
    return absl::InternalError(
        absl::StrCat(node_.op(), ": the decomposition uses the undefined name ", expression.name, "; " HPU_REPORT_BUG));
  }
  Value value = found->second;
  if (value.step < 0 || expression.output == 0) return value;
  value.index = expression.output;
  value.type = decomposition_.steps[value.step].properties->output_types[value.index];
  return value;
}

absl::StatusOr<Value> Builder::MakeOp(const OpExpression& expression) {
  std::string name = expression.name;
  if (name[0] == '$') {
    HPU_ASSIGN_OR_RETURN(const AttrValue value, AttrOf(name.substr(1)));
    name = value.s();
  }
  const OpDef* op = nullptr;
  HPU_RETURN_IF_ERROR(tensorflow::OpRegistry::Global()->LookUpOpDef(name, &op));
  std::map<std::string, AttrValue> attrs;
  HPU_ASSIGN_OR_RETURN(const std::vector<const OpDef::ArgDef*> inputs_of_op,
                       InputsOf(node_.op(), *op, expression.args.size(), &attrs));
  for (const auto& [attr, text] : expression.attrs) {
    const OpDef::AttrDef* declared = tensorflow::FindAttr(attr, *op);
    if (declared == nullptr) {
      return absl::InternalError(absl::StrCat(node_.op(), ": ", name, " has no attribute ", attr, "; " HPU_REPORT_BUG));
    }
    HPU_ASSIGN_OR_RETURN(attrs[attr], Attr(*declared, text));
  }
  std::vector<Value> inputs(expression.args.size());
  // Constants last: the other inputs determine their types.
  for (const bool constants : {false, true}) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (IsConstant(expression.args[i]) != constants) continue;
      const OpDef::ArgDef& arg = *inputs_of_op[i];
      if (constants) {
        HPU_ASSIGN_OR_RETURN(const DataType type, TypeOf(*op, arg, attrs));
        HPU_ASSIGN_OR_RETURN(inputs[i], MakeConstant(expression.args[i], type));
      } else {
        HPU_ASSIGN_OR_RETURN(inputs[i], Make(expression.args[i]));
      }
      if (!arg.type_attr().empty()) attrs[arg.type_attr()].set_type(inputs[i].type);
    }
  }
  tensorflow::NodeDefBuilder builder(absl::StrCat(node_.name(), "/", decomposition_.steps.size()), op);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs_of_op[i]->number_attr().empty()) {
      builder.Input(NameOf(inputs[i]), inputs[i].index, inputs[i].type);
      continue;
    }
    std::vector<tensorflow::NodeDefBuilder::NodeOut> list;
    for (; i < inputs.size() && !inputs_of_op[i]->number_attr().empty(); ++i) {
      list.emplace_back(NameOf(inputs[i]), inputs[i].index, inputs[i].type);
    }
    builder.Input(list);
    --i;
  }
  for (const auto& [attr, value] : attrs) builder.Attr(attr, value);
  return AddStep(builder, *op, std::move(inputs));
}

absl::StatusOr<Value> Builder::Make(const OpExpression& expression) {
  switch (expression.kind) {
    case Kind::kOp:
      return MakeOp(expression);
    case Kind::kName:
      return MakeNamed(expression);
    default:
      return absl::InternalError(absl::StrCat(node_.op(),
                                              ": the decomposition contains an expression that only patterns may use, "
                                              "expected an op or a name; " HPU_REPORT_BUG));
  }
}

absl::StatusOr<Decomposition> Builder::Build() {
  int index = 0;
  for (const auto& arg : op_.input_arg()) {
    HPU_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesOf(arg));
    for (const std::string& name : names) {
      inputs_[name] = Value{-1, index, input_types_[index]};
      ++index;
    }
  }
  for (const auto& result : op_.output_arg()) {
    HPU_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesOf(result));
    for (const std::string& name : names) {
      OpExpression expression;
      expression.kind = Kind::kName;
      expression.name = name;
      HPU_ASSIGN_OR_RETURN(const Value value, MakeNamed(expression));
      decomposition_.results.push_back(value);
    }
  }
  return std::move(decomposition_);
}

}  // namespace

absl::StatusOr<Decomposition> MakeDecomposition(const std::vector<OpStatement>& statements, const NodeDef& node,
                                                const OpDef& op, const tensorflow::DataTypeVector& input_types) {
  return Builder(statements, node, op, input_types).Build();
}

}  // namespace hpu
