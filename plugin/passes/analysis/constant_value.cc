#include "plugin/passes/analysis/constant_value.h"

#include <cmath>

#include "tensorflow/core/framework/attr_value_util.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/tensor.h"

namespace hpu::passes {
namespace {

using tensorflow::DataType;
using tensorflow::Tensor;

constexpr int64_t kMaxElements = 1 << 16;

template <typename T>
std::optional<double> CommonValue(const Tensor& tensor) {
  const auto values = tensor.flat<T>();
  for (int64_t i = 1; i < values.size(); ++i) {
    if (!(values(i) == values(0))) return std::nullopt;
  }
  return static_cast<double>(values(0));
}

std::optional<double> CommonNumber(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case tensorflow::DT_FLOAT:
      return CommonValue<float>(tensor);
    case tensorflow::DT_DOUBLE:
      return CommonValue<double>(tensor);
    case tensorflow::DT_BFLOAT16:
      return CommonValue<tensorflow::bfloat16>(tensor);
    case tensorflow::DT_HALF:
      return CommonValue<Eigen::half>(tensor);
    case tensorflow::DT_INT32:
      return CommonValue<int32_t>(tensor);
    case tensorflow::DT_INT64:
      return CommonValue<int64_t>(tensor);
    default:
      return std::nullopt;
  }
}

// Whether a constant has 1 to kMaxElements elements, so that it is cheap to unpack.
bool IsSmall(const tensorflow::TensorProto& proto) {
  int64_t elements = 1;
  for (const auto& dim : proto.tensor_shape().dim()) elements *= dim.size();
  return elements > 0 && elements <= kMaxElements;
}

}  // namespace

std::optional<double> NumberOf(const tensorflow::AttrValue& value) {
  Tensor tensor;
  if (!IsSmall(value.tensor()) || !tensor.FromProto(value.tensor())) return std::nullopt;
  return CommonNumber(tensor);
}

std::optional<double> NumberOf(const tensorflow::Node& node) {
  const tensorflow::AttrValue* value = node.IsConstant() ? node.attrs().Find("value") : nullptr;
  return value == nullptr ? std::nullopt : NumberOf(*value);
}

std::vector<int64_t> WholeNumbersOf(const tensorflow::AttrValue& value) {
  if (value.has_list()) return {value.list().i().begin(), value.list().i().end()};
  Tensor tensor;
  std::vector<int64_t> numbers;
  if (!value.has_tensor() || !IsSmall(value.tensor()) || !tensor.FromProto(value.tensor())) return numbers;
  for (int64_t i = 0; i < tensor.NumElements(); ++i) {
    if (tensor.dtype() == tensorflow::DT_INT32) numbers.push_back(tensor.flat<int32_t>()(i));
    if (tensor.dtype() == tensorflow::DT_INT64) numbers.push_back(tensor.flat<int64_t>()(i));
  }
  return numbers;
}

bool IsNumber(const tensorflow::Node& node, double number) {
  const std::optional<double> value = NumberOf(node);
  return value.has_value() && IsAbout(*value, number, node.output_type(0));
}

bool IsAbout(double value, double expected, DataType type) {
  double precision = 1e-5;
  if (type == tensorflow::DT_BFLOAT16) precision = 1e-2;
  if (type == tensorflow::DT_HALF) precision = 2e-3;
  if (type == tensorflow::DT_INT32 || type == tensorflow::DT_INT64) precision = 0;
  return std::abs(value - expected) <= precision * std::abs(expected);
}

bool SameValue(const tensorflow::AttrValue& a, const tensorflow::AttrValue& b) {
  if (!a.has_tensor() || !b.has_tensor()) return tensorflow::AreAttrValuesEqual(a, b);
  Tensor one;
  Tensor other;
  if (!one.FromProto(a.tensor()) || !other.FromProto(b.tensor())) return false;
  if (one.dtype() != other.dtype() || one.shape() != other.shape()) return false;
  if (!tensorflow::DataTypeCanUseMemcpy(one.dtype())) return tensorflow::AreAttrValuesEqual(a, b);
  return one.tensor_data() == other.tensor_data();
}

}  // namespace hpu::passes
