#include "plugin/compat/lowering_values.h"

#include <algorithm>
#include <cstdint>

#include "plugin/base/status_macros.h"
#include "tensorflow/compiler/tf2xla/shape_util.h"
#include "tensorflow/compiler/tf2xla/xla_compiler.h"
#include "tensorflow/compiler/tf2xla/xla_resource.h"

namespace hpu {

using tensorflow::PartialTensorShape;
using tensorflow::XlaExpression;

namespace {

PartialTensorShape StaticShapeOf(const XlaExpression& input) {
  const absl::StatusOr<xla::Shape> shape = input.GetXlaShape();
  if (!shape.ok() || !shape->IsArray()) return PartialTensorShape();
  PartialTensorShape result({});
  for (int64_t i = 0; i < shape->dimensions_size(); ++i) {
    result.AddDim(shape->is_dynamic_dimension(i) ? -1 : shape->dimensions(i));
  }
  return result;
}

}  // namespace

OperandFacts FindOperandFacts(tensorflow::XlaOpKernelContext* context, int input, bool evaluates) {
  const XlaExpression& expression = context->InputExpression(input);
  OperandFacts facts;
  facts.shape = StaticShapeOf(expression);
  switch (expression.kind()) {
    case XlaExpression::Kind::kConstant:
      facts.value = expression.constant_value();
      break;
    case XlaExpression::Kind::kResource: {
      const tensorflow::XlaResource& resource = *expression.resource();
      if (resource.kind() == tensorflow::XlaResource::kVariable && resource.initialized()) {
        facts.variable.emplace(resource.shape(), resource.type());
      }
      break;
    }
    default: {
      // Lowerings through MLIR (MatrixDiag) call other lowerings without an XlaCompiler. The constant inputs of such a
      // call are kConstant expressions, which need no evaluation.
      if (!evaluates || context->compiler() == nullptr) break;
      absl::StatusOr<std::optional<tensorflow::Tensor>> value =
          expression.ResolveConstant(context->compiler()->client());
      if (value.ok()) facts.value = *std::move(value);
    }
  }
  return facts;
}

absl::StatusOr<std::optional<xla::Shape>> ShapeOfOperandValue(tensorflow::XlaOpKernelContext* context, int input) {
  const XlaExpression& expression = context->InputExpression(input);
  xla::XlaOp value;
  if (expression.kind() == XlaExpression::Kind::kXlaOp || expression.kind() == XlaExpression::Kind::kTensorList) {
    value = expression.handle();
  } else if (expression.kind() == XlaExpression::Kind::kResource && expression.resource()->initialized()) {
    value = expression.resource()->value();
  }
  if (!value.valid()) return std::nullopt;
  HPU_ASSIGN_OR_RETURN(xla::Shape shape, value.builder()->GetShape(value));
  return shape;
}

namespace {

std::optional<tensorflow::Tensor> Resolve(tensorflow::XlaOpKernelContext* context, const XlaExpression& expression,
                                          xla::ValueInferenceMode mode) {
  if (context->compiler() == nullptr) return std::nullopt;
  auto value =
      expression.ResolveConstant(context->compiler()->client(), /*dynamic_dimension_is_minus_one=*/false, mode);
  return value.ok() ? *std::move(value) : std::nullopt;
}

}  // namespace

bool IsKnownUpToBound(tensorflow::XlaOpKernelContext* context, int input) {
  const XlaExpression& expression = context->InputExpression(input);
  if (expression.kind() != XlaExpression::Kind::kXlaOp) return false;
  // A search through the operands. The evaluation below would also compute what depends on arguments, such as sorts,
  // and would read unwritten memory for arrays of dynamic size.
  const absl::StatusOr<bool> depends_on_sizes_only = expression.handle().builder()->IsConstant(expression.handle());
  return depends_on_sizes_only.ok() && *depends_on_sizes_only &&
         !Resolve(context, expression, xla::ValueInferenceMode::kValue).has_value() &&
         Resolve(context, expression, xla::ValueInferenceMode::kUpperBound).has_value();
}

OperandReplacement::OperandReplacement(tensorflow::OpKernelContext* context, int input, xla::XlaOp value)
    : operand_(const_cast<tensorflow::Tensor*>(&context->input(input))), original_(*operand_) {
  tensorflow::TensorShape shape;
  const absl::StatusOr<xla::Shape> xla_shape = value.builder()->GetShape(value);
  OP_REQUIRES_OK(context, xla_shape.status());
  OP_REQUIRES_OK(context, tensorflow::XLAShapeToTensorShape(*xla_shape, &shape));
  Replace(context, XlaExpression::XlaOp(value, original_.dtype()), shape);
}

OperandReplacement::OperandReplacement(tensorflow::OpKernelContext* context, int input,
                                       const tensorflow::Tensor& constant)
    : operand_(const_cast<tensorflow::Tensor*>(&context->input(input))), original_(*operand_) {
  Replace(context, XlaExpression::Constant(constant), constant.shape());
}

OperandReplacement::~OperandReplacement() { *operand_ = original_; }

// tf2xla stores an expression in the buffer of a tensor, whose shape is that of the value.
void OperandReplacement::Replace(tensorflow::OpKernelContext* context, const XlaExpression& expression,
                                 const tensorflow::TensorShape& shape) {
  tensorflow::Tensor replaced;
  OP_REQUIRES_OK(context, context->allocate_temp(original_.dtype(), shape, &replaced));
  XlaExpression::AssignExpressionToTensor(expression, &replaced);
  *operand_ = replaced;
}

absl::Status ReplaceResult(tensorflow::OpKernelContext* context, int output,
                           const std::function<xla::XlaOp(xla::XlaOp)>& replace) {
  tensorflow::XlaOpKernelContext xla_context(context);
  tensorflow::Tensor* const result = context->mutable_output(output);
  const xla::XlaOp value = replace(XlaExpression::CastExpressionFromTensor(*result)->AsXlaOp(xla_context.builder()));
  HPU_RETURN_IF_ERROR(value.builder()->first_error());
  HPU_ASSIGN_OR_RETURN(const xla::Shape xla_shape, value.builder()->GetShape(value));
  tensorflow::TensorShape shape;
  HPU_RETURN_IF_ERROR(tensorflow::XLAShapeToTensorShape(xla_shape, &shape));
  tensorflow::Tensor replaced;
  HPU_RETURN_IF_ERROR(context->allocate_temp(result->dtype(), shape, &replaced));
  XlaExpression::AssignExpressionToTensor(XlaExpression::XlaOp(value, result->dtype()), &replaced);
  *result = replaced;
  return absl::OkStatus();
}

absl::StatusOr<std::optional<xla::Shape>> ResultShapeOf(const tensorflow::Tensor& result) {
  const XlaExpression* const expression = XlaExpression::CastExpressionFromTensor(result);
  if (expression->kind() != XlaExpression::Kind::kXlaOp) return std::nullopt;
  HPU_ASSIGN_OR_RETURN(xla::Shape shape, expression->GetXlaShape());
  return shape;
}

absl::StatusOr<std::optional<VariableValues>> ValuesOfVariable(tensorflow::XlaOpKernelContext* context, int input) {
  tensorflow::XlaResource* variable = nullptr;
  HPU_RETURN_IF_ERROR(context->GetResourceInput(input, &variable));
  if (variable->kind() != tensorflow::XlaResource::kVariable || !variable->initialized()) return std::nullopt;
  return VariableValues{variable->type(), variable->value(), variable->initial_value()};
}

}  // namespace hpu
