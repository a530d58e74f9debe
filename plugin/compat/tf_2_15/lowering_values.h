// Operands and results of a lowering, from tf2xla's symbolic values (XlaExpression, XlaResource).
#ifndef HPU_PLUGIN_COMPAT_TF_2_15_LOWERING_VALUES_H_
#define HPU_PLUGIN_COMPAT_TF_2_15_LOWERING_VALUES_H_

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

#endif  // HPU_PLUGIN_COMPAT_TF_2_15_LOWERING_VALUES_H_
