#include "plugin/compat/tf_2_15/lowering_values.h"

#include <cstdint>

#include "tensorflow/compiler/tf2xla/xla_compiler.h"
#include "tensorflow/compiler/tf2xla/xla_resource.h"
#include "tsl/platform/statusor.h"

namespace hpu {

using tensorflow::PartialTensorShape;
using tensorflow::XlaExpression;

namespace {

PartialTensorShape StaticShapeOf(const XlaExpression& input) {
  const absl::StatusOr<xla::Shape> shape = input.GetXlaShape();
  if (!shape.ok() || !shape->IsArray()) return PartialTensorShape();
  PartialTensorShape result({});
  for (int64_t i = 0; i < shape->rank(); ++i) {
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

absl::StatusOr<std::optional<xla::Shape>> ResultShapeOf(const tensorflow::Tensor& result) {
  const XlaExpression* const expression = XlaExpression::CastExpressionFromTensor(result);
  if (expression->kind() != XlaExpression::Kind::kXlaOp) return std::nullopt;
  TF_ASSIGN_OR_RETURN(xla::Shape shape, expression->GetXlaShape());
  return shape;
}

absl::StatusOr<std::optional<VariableValues>> ValuesOfVariable(tensorflow::XlaOpKernelContext* context, int input) {
  tensorflow::XlaResource* variable = nullptr;
  TF_RETURN_IF_ERROR(context->GetResourceInput(input, &variable));
  if (variable->kind() != tensorflow::XlaResource::kVariable || !variable->initialized()) return std::nullopt;
  return VariableValues{variable->type(), variable->value(), variable->initial_value()};
}

}  // namespace hpu
