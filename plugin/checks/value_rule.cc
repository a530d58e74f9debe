#include "plugin/checks/value_rule.h"

#include <cmath>
#include <optional>

#include "plugin/checks/whole_number.h"
#include "tensorflow/core/framework/register_types.h"

namespace hpu::checks {
namespace {

using tensorflow::DataType;
using tensorflow::Tensor;
using Test = ValueRule::Test;

template <typename T, typename Predicate>
bool All(const Tensor& tensor, const Predicate& predicate) {
  const auto values = tensor.flat<T>();
  for (int64_t i = 0; i < values.size(); ++i) {
    if (!predicate(values(i))) return false;
  }
  return true;
}

template <typename T>
bool AllPass(Test test, const Tensor& tensor) {
  switch (test) {
    case Test::kNonzero:
      return All<T>(tensor, [](T value) { return value != T(0); });
    case Test::kNonNegative:
      return All<T>(tensor, [](T value) { return !(value < T(0)); });
    case Test::kPositive:
      return All<T>(tensor, [](T value) { return value > T(0); });
    case Test::kFinite:
      return All<T>(tensor, [](T value) { return value - value == T(0); });  // infinity - infinity is NaN
    case Test::kFactored:
      return All<T>(tensor, [](T value) { return value == value; });
    default:
      return true;
  }
}

template <typename T>
bool AreOrdered(const Tensor& low, const Tensor& high) {
  return low.NumElements() != 1 || high.NumElements() != 1 || !(low.flat<T>()(0) > high.flat<T>()(0));
}

}  // namespace

const ValueRule* FindValueRule(std::string_view op, tensorflow::AttrSlice attributes) {
  const std::optional<ValueRule>& rule = FactsOf(op).values;
  if (!rule) return nullptr;
  if (rule->types != ValueRule::Types::kAny) {
    DataType type = tensorflow::DT_INVALID;
    if (!tensorflow::GetNodeAttr(attributes, "T", &type).ok()) return nullptr;
    const bool applies = rule->types == ValueRule::Types::kInteger
                             ? tensorflow::DataTypeIsInteger(type)
                             : type == tensorflow::DT_FLOAT || type == tensorflow::DT_DOUBLE;
    if (!applies) return nullptr;
  }
  bool set = false;
  if (rule->attribute != nullptr && (!tensorflow::GetNodeAttr(attributes, rule->attribute, &set).ok() || !set)) {
    return nullptr;
  }
  return &*rule;
}

bool Satisfies(const ValueRule& rule, const Tensor& values) {
#define HPU_TEST(T)                          \
  case tensorflow::DataTypeToEnum<T>::value: \
    return AllPass<T>(rule.test, values);
  switch (values.dtype()) {
    TF_CALL_REAL_NUMBER_TYPES(HPU_TEST)
    default:
      return true;
  }
#undef HPU_TEST
}

bool IsOrdered(const Tensor& low, const Tensor& high) {
#define HPU_TEST(T)                          \
  case tensorflow::DataTypeToEnum<T>::value: \
    return AreOrdered<T>(low, high);
  if (low.dtype() != high.dtype()) return true;
  switch (low.dtype()) {
    TF_CALL_FLOAT_TYPES(HPU_TEST)
    default:
      return true;
  }
#undef HPU_TEST
}

bool IsBand(const Tensor& lower, const Tensor& upper, const tensorflow::TensorShape& matrices) {
  if (lower.NumElements() != 1 || upper.NumElements() != 1 || matrices.dims() < 2) return false;
  return WholeNumber(lower) <= matrices.dim_size(matrices.dims() - 2) &&
         WholeNumber(upper) <= matrices.dim_size(matrices.dims() - 1);
}

}  // namespace hpu::checks
