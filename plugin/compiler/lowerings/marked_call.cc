#include "plugin/compiler/lowerings/marked_call.h"

#include <cstdint>
#include <memory>

#include "absl/strings/str_cat.h"
#include "tsl/platform/errors.h"
#include "tsl/platform/statusor.h"
#include "xla/shape.h"

namespace hpu {

absl::StatusOr<xla::XlaOp> MarkedCall(const char* attribute, const std::string& value,
                                      const std::vector<xla::XlaOp>& operands,
                                      absl::FunctionRef<xla::XlaOp(const std::vector<xla::XlaOp>&)> body) {
  xla::XlaBuilder* const builder = operands[0].builder();
  const std::unique_ptr<xla::XlaBuilder> inner = builder->CreateSubBuilder(attribute);
  std::vector<xla::XlaOp> parameters;
  for (size_t i = 0; i < operands.size(); ++i) {
    TF_ASSIGN_OR_RETURN(const xla::Shape shape, builder->GetShape(operands[i]));
    parameters.push_back(xla::Parameter(inner.get(), static_cast<int64_t>(i), shape, absl::StrCat("input", i)));
  }
  TF_ASSIGN_OR_RETURN(const xla::XlaComputation computation, inner->Build(body(parameters)));
  xla::FrontendAttributes attributes = builder->frontend_attributes();
  (*attributes.mutable_map())[attribute] = value;
  const xla::XlaScopedFrontendAttributesAssignment scope(builder, attributes);
  return xla::Call(builder, computation, operands);
}

}  // namespace hpu
