// Shape of a lowering's operand, for argument checks.
#ifndef HPU_PLUGIN_COMPILER_OPERAND_SHAPE_H_
#define HPU_PLUGIN_COMPILER_OPERAND_SHAPE_H_

#include "absl/status/statusor.h"
#include "tensorflow/compiler/tf2xla/xla_expression.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/core/framework/tensor_shape.h"

namespace hpu {

// The shape of an input. Unlike XlaOpKernelContext::InputShape, returns an error if the shape is unknown.
inline absl::StatusOr<tensorflow::TensorShape> OperandShape(tensorflow::XlaOpKernelContext* context, int input) {
  return context->InputExpression(input).GetShape();
}

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_OPERAND_SHAPE_H_
