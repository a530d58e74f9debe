// Operands and results of a lowering, from tf2xla's symbolic values (XlaExpression, XlaResource).
#ifndef HPU_PLUGIN_COMPAT_LOWERING_VALUES_H_
#define HPU_PLUGIN_COMPAT_LOWERING_VALUES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "tensorflow/compiler/tf2xla/xla_expression.h"
// Lowerings of sums use XlaHelpers::SumAccumulationType.
#include "tensorflow/compiler/tf2xla/xla_helpers.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "xla/shape.h"

namespace hpu {

// The shape of an input. Unlike XlaOpKernelContext::InputShape, returns an error if the shape is unknown.
inline absl::StatusOr<tensorflow::TensorShape> OperandShape(tensorflow::XlaOpKernelContext* context, int input) {
  return context->InputExpression(input).GetShape();
}

// Facts about an input for shape inference.
struct OperandFacts {
  tensorflow::PartialTensorShape shape;     // dynamic dimensions are unknown
  std::optional<tensorflow::Tensor> value;  // if known at compile time
  // The shape and type of the variable behind a handle, if the variable has a value.
  std::optional<std::pair<tensorflow::PartialTensorShape, tensorflow::DataType>> variable;
};

// `evaluates`: whether to evaluate the operations that compute a non-constant input.
OperandFacts FindOperandFacts(tensorflow::XlaOpKernelContext* context, int input, bool evaluates);

// The shape of an operand's value: of an array, the arrays of a TensorList (a tuple), or the value behind a handle.
// nullopt for constants, and for a handle without a value.
absl::StatusOr<std::optional<xla::Shape>> ShapeOfOperandValue(tensorflow::XlaOpKernelContext* context, int input);

// Whether the values of an input are not known at compile time, but their upper bounds are, because the values depend
// on sizes of dynamic dimensions.
bool IsKnownUpToBound(tensorflow::XlaOpKernelContext* context, int input);

// Replaces an operand, which is an array, while the object lives.
class OperandReplacement {
 public:
  OperandReplacement(tensorflow::OpKernelContext* context, int input, xla::XlaOp value);
  OperandReplacement(tensorflow::OpKernelContext* context, int input, const tensorflow::Tensor& constant);
  ~OperandReplacement();
  OperandReplacement(const OperandReplacement&) = delete;
  OperandReplacement& operator=(const OperandReplacement&) = delete;

 private:
  void Replace(tensorflow::OpKernelContext* context, const tensorflow::XlaExpression& expression,
               const tensorflow::TensorShape& shape);

  tensorflow::Tensor* const operand_;
  const tensorflow::Tensor original_;
};

// Replaces a result by `replace(result)`.
absl::Status ReplaceResult(tensorflow::OpKernelContext* context, int output,
                           const std::function<xla::XlaOp(xla::XlaOp)>& replace);

// The shape of a lowering's result; nullopt if the result is a constant, a resource or a TensorList.
absl::StatusOr<std::optional<xla::Shape>> ResultShapeOf(const tensorflow::Tensor& result);

// Values of the variable behind a handle.
struct VariableValues {
  tensorflow::DataType type = tensorflow::DT_INVALID;
  xla::XlaOp value;
  xla::XlaOp initial;  // at the program's start; not valid if the variable had no value
};

// nullopt if an input is not the handle of a variable, or if the variable has no value.
absl::StatusOr<std::optional<VariableValues>> ValuesOfVariable(tensorflow::XlaOpKernelContext* context, int input);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPAT_LOWERING_VALUES_H_
