#include "plugin/compiler/lowerings/marked_call_builder.h"

#include <cstdint>
#include <memory>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/compiler/marked_operations.h"
#include "plugin/program/marked_call.h"
#include "xla/shape.h"

namespace hpu {

absl::StatusOr<xla::XlaOp> MarkedCall(const char* operation, const std::string& attributes,
                                      const std::vector<xla::XlaOp>& operands,
                                      absl::FunctionRef<xla::XlaOp(const std::vector<xla::XlaOp>&)> body) {
  xla::XlaBuilder* const builder = operands[0].builder();
  const std::unique_ptr<xla::XlaBuilder> inner = builder->CreateSubBuilder(operation);
  std::vector<xla::XlaOp> parameters;
  for (size_t i = 0; i < operands.size(); ++i) {
    HPU_ASSIGN_OR_RETURN(const xla::Shape shape, builder->GetShape(operands[i]));
    parameters.push_back(xla::Parameter(inner.get(), static_cast<int64_t>(i), shape, absl::StrCat("input", i)));
  }
  HPU_ASSIGN_OR_RETURN(const xla::XlaComputation computation, inner->Build(body(parameters)));
  xla::FrontendAttributes frontend = builder->frontend_attributes();
  (*frontend.mutable_map())[kOperationAttribute] = absl::StrCat(operation, " ", attributes);
  const xla::XlaScopedFrontendAttributesAssignment scope(builder, frontend);
  return xla::Call(builder, computation, operands);
}

bool CanMark(const char* operation, tensorflow::XlaOpKernelContext* context) {
  if (!MarksOperation(operation)) return false;
  for (int i = 0; i < context->num_inputs(); ++i) {
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(i);
    if (!shape.ok() || shape->is_dynamic() || shape->dimensions_size() == 0 ||
        xla::ShapeUtil::IsZeroElementArray(*shape))
      return false;
  }
  return true;
}

}  // namespace hpu
