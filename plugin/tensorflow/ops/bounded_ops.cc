// Bounded ops: arguments of bounded recipes inside their programs (compiler/bounded_arguments.h).
#include <vector>

#include "plugin/base/status_macros.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace hpu {
namespace {

using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;

// Dimensions that follow a symbol are unknown. Otherwise, constant folding would replace their sizes by the bounds.
absl::Status InferBoundedArgument(InferenceContext* context) {
  std::vector<int64_t> symbols;
  HPU_RETURN_IF_ERROR(context->GetAttr("symbols", &symbols));
  std::vector<DimensionHandle> dimensions;
  const bool has_rank = context->RankKnown(context->input(0));
  for (size_t d = 0; d < symbols.size(); ++d) {
    const bool is_fixed = has_rank && symbols[d] < 0;
    dimensions.push_back(is_fixed ? context->Dim(context->input(0), static_cast<int64_t>(d)) : context->UnknownDim());
  }
  context->set_output(0, context->MakeShape(dimensions));
  return absl::OkStatus();
}

absl::Status InferBoundedConstant(InferenceContext* context) {
  tensorflow::Tensor value;
  tensorflow::shape_inference::ShapeHandle shape;
  HPU_RETURN_IF_ERROR(context->GetAttr("value", &value));
  HPU_RETURN_IF_ERROR(context->MakeShapeFromTensorShape(value.shape(), &shape));
  context->set_output(0, shape);
  return absl::OkStatus();
}

}  // namespace

REGISTER_OP("HabanaBoundedArgument")
    .Input("argument: T")
    .Input("sizes: int32")
    .Output("output: T")
    .Attr("T: type")
    .Attr("symbols: list(int)")
    .Attr("offsets: list(int)")
    .SetShapeFn(InferBoundedArgument)
    .Doc(R"doc(
An argument whose sizes follow symbols. Exists inside compiled programs only.

argument: Array of the bounds, with the elements in front, in row-major order of the sizes.
sizes: The symbols' values, a vector.
symbols: For each dimension, the index of its symbol, or -1 for a fixed size.
offsets: For each dimension, its size minus the symbol's value.
)doc");

REGISTER_OP("HabanaBoundedConstant")
    .Input("sizes: int32")
    .Output("output: dtype")
    .Attr("dtype: {int32, int64}")
    .Attr("value: tensor")
    .Attr("symbols: list(int)")
    .Attr("offsets: list(int)")
    .Attr("bounds: list(int)")
    .SetShapeFn(InferBoundedConstant)
    .Doc(R"doc(
A compile-time constant with elements that follow symbols. Exists inside compiled programs only.

sizes: The symbols' values, a vector.
value: The elements that do not follow a symbol.
symbols: For each element in row-major order, the index of its symbol, or -1 for a fixed element.
offsets: For each element, its value minus the symbol's value.
bounds: The maximum of each symbol.
)doc");

}  // namespace hpu
