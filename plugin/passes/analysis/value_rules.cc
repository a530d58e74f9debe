#include "plugin/passes/analysis/value_rules.h"

#include <cmath>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "tensorflow/core/framework/register_types.h"

namespace hpu::passes {
namespace {

using tensorflow::DataType;
using tensorflow::Tensor;
using Test = ValueRule::Test;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

struct Entry {
  ValueRule rule;
  enum Types { kAny, kWhole, kFloating } types = kAny;  // of attribute T
  const char* attribute = nullptr;                      // the rule applies only if this attribute is true
};

constexpr char kByZero[] = "Integer division by zero";
constexpr char kBinaryError[] = "Unexpected error in binary operator (only integer div and mod should have errors)";
constexpr char kBin[] = "Input arr must be non-negative!";
constexpr char kSingular[] = "Input is not invertible.";
constexpr char kRange[] = "Invalid range: input_min > input_max";
constexpr char kBand[] = "num_lower and num_upper must be negative or not greater than the number of rows and columns";

const Entry* FindEntry(std::string_view op) {
  static const auto* entries = new absl::flat_hash_map<std::string_view, Entry>({
      {"Bincount", {{Test::kNonNegative, 0, kInvalid, kBin}}},
      {"DenseBincount", {{Test::kNonNegative, 0, kInvalid, kBin, /*host_safe=*/false}}},
      {"Div", {{Test::kNonzero, 1, kInvalid, kByZero}, Entry::kWhole}},
      {"FloorDiv", {{Test::kNonzero, 1, kInvalid, kByZero}, Entry::kWhole}},
      {"FloorMod", {{Test::kNonzero, 1, kInvalid, kByZero}, Entry::kWhole}},
      {"Lu", {{Test::kFactored, 0, kInvalid, kSingular}, Entry::kFloating}},
      {"MatrixBandPart", {{Test::kBand, 1, kInvalid, kBand}}},
      {"MatrixInverse", {{Test::kFactored, 0, kInvalid, kSingular}, Entry::kFloating}},
      {"MatrixSolve", {{Test::kFactored, 0, kInvalid, "Input matrix is not invertible."}, Entry::kFloating}},
      {"Mod", {{Test::kNonzero, 1, kInvalid, kByZero}, Entry::kWhole}},
      {"Pow",
       {{Test::kNonNegative, 1, kInvalid, "Integers to negative integer powers are not allowed"}, Entry::kWhole}},
      {"QuantizeAndDequantizeV2", {{Test::kOrdered, 1, kInvalid, kRange}, Entry::kAny, "range_given"}},
      {"QuantizeAndDequantizeV3", {{Test::kOrdered, 1, kInvalid, kRange}, Entry::kAny, "range_given"}},
      {"QuantizeAndDequantizeV4", {{Test::kOrdered, 1, kInvalid, kRange}, Entry::kAny, "range_given"}},
      {"ResourceApplyProximalAdagrad", {{Test::kPositive, 2, kInvalid, "lr is not a positive scalar"}}},
      {"ScaleAndTranslate", {{Test::kPositive, 2, kInvalid, "Scale must be greater than zero."}}},
      // It fails only for a matrix that is not finite.
      {"SelfAdjointEigV2",
       {{Test::kFactored, 1, kInvalid,
         "Self-adjoint eigen decomposition was not successful. The input might not be valid."},
        Entry::kFloating}},
      {"TruncateDiv", {{Test::kNonzero, 1, absl::StatusCode::kInternal, kBinaryError}, Entry::kWhole}},
      {"TruncateMod", {{Test::kNonzero, 1, absl::StatusCode::kInternal, kBinaryError}, Entry::kWhole}},
  });
  const auto found = entries->find(op);
  return found == entries->end() ? nullptr : &found->second;
}

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

int64_t WholeNumber(const Tensor& scalar) {
  return scalar.dtype() == tensorflow::DT_INT32 ? scalar.flat<int32_t>()(0) : scalar.flat<int64_t>()(0);
}

}  // namespace

const ValueRule* FindValueRule(std::string_view op, tensorflow::AttrSlice attributes) {
  const Entry* entry = FindEntry(op);
  if (entry == nullptr) return nullptr;
  if (entry->types != Entry::kAny) {
    DataType type = tensorflow::DT_INVALID;
    if (!tensorflow::GetNodeAttr(attributes, "T", &type).ok()) return nullptr;
    const bool holds = entry->types == Entry::kWhole ? tensorflow::DataTypeIsInteger(type)
                                                     : type == tensorflow::DT_FLOAT || type == tensorflow::DT_DOUBLE;
    if (!holds) return nullptr;
  }
  bool set = false;
  if (entry->attribute != nullptr && (!tensorflow::GetNodeAttr(attributes, entry->attribute, &set).ok() || !set)) {
    return nullptr;
  }
  return &entry->rule;
}

bool Passes(const ValueRule& rule, const Tensor& values) {
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

}  // namespace hpu::passes
