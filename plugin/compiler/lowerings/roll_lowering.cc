// Lowering of Roll. For a shift that is known at compile time, two slices in reverse order suffice. tf2xla's lowering
// always concatenates the array with itself and slices the result.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/slicing.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using xla::XlaOp;

XlaOp RollByKnown(XlaOp value, int64_t shift, int64_t axis, int64_t size) {
  const int64_t begin = (size - shift % size) % size;
  if (begin == 0) return value;
  return xla::ConcatInDim(
      value.builder(), {xla::SliceInDim(value, begin, size, 1, axis), xla::SliceInDim(value, 0, begin, 1, axis)}, axis);
}

// `shift`: a scalar.
XlaOp RollBy(XlaOp value, XlaOp shift, int64_t axis, const xla::Shape& shape) {
  const XlaOp size = xla::ScalarLike(shift, shape.dimensions(axis));
  const XlaOp begin = xla::Rem(size - xla::Rem(shift, size), size);
  std::vector<XlaOp> begins(shape.dimensions_size(), xla::ScalarLike(shift, 0));
  begins[axis] = begin;
  return xla::DynamicSlice(xla::ConcatInDim(value.builder(), {value, value}, axis), begins, shape.dimensions());
}

// Rolls the first `size` elements of a dimension. `shift`: a scalar. `value` is static, because XLA's gather makes all
// dimensions static.
XlaOp RollDynamic(XlaOp value, XlaOp shift, int64_t axis, XlaOp size, const xla::Shape& shape) {
  xla::XlaBuilder* const builder = value.builder();
  const XlaOp divisor = xla::Max(size, xla::ScalarLike(size, 1));
  const auto wrap = [&](XlaOp index) { return xla::Rem(xla::Rem(index, divisor) + divisor, divisor); };
  const XlaOp steps = xla::Rem(xla::ConvertElementType(shift, xla::S64), xla::ConvertElementType(divisor, xla::S64));
  const XlaOp target = xla::Iota(builder, xla::S32, shape.dimensions(axis));
  const XlaOp source = wrap(target - xla::ConvertElementType(steps, xla::S32));
  return xla::TorchIndexSelect(value, source, axis);
}

class RollLowering : public tensorflow::XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;

  void Compile(tensorflow::XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(0), shift_shape = context->InputXlaShape(1);
    OP_REQUIRES_OK(context, shape.status());
    OP_REQUIRES_OK(context, shift_shape.status());
    const absl::StatusOr<xla::Shape> axis_shape = context->InputXlaShape(2);
    OP_REQUIRES_OK(context, axis_shape.status());
    OP_REQUIRES(context,
                shape->dimensions_size() > 0 && axis_shape->dimensions_size() <= 1 &&
                    axis_shape->dimensions() == shift_shape->dimensions(),
                absl::InvalidArgumentError(absl::StrCat(
                    type_string(),
                    ": input must be 1-D or higher, and shift and axis scalars or vectors of the same size, got input ",
                    shape->ToString(), ", shift ", shift_shape->ToString(), ", axis ", axis_shape->ToString())));
    std::vector<int64_t> axes, shifts;
    OP_REQUIRES_OK(context, context->ConstantInputReshapedToIntVector(2, &axes));
    const auto count = static_cast<int64_t>(axes.size());
    const bool known = context->ConstantInputReshapedToIntVector(1, &shifts).ok();
    const XlaOp shift = xla::Reshape(context->Input(1), {count});
    XlaOp value = context->Input(0);
    std::vector<XlaOp> sizes(shape->dimensions_size());
    for (int64_t d = 0; d < shape->dimensions_size(); ++d) {
      if (!shape->is_dynamic_dimension(d)) continue;
      sizes[d] = xla::GetDimensionSize(context->Input(0), d);
      value = xla::RemoveDynamicDimension(value, d);
    }
    for (int64_t i = 0; i < count; ++i) {
      const int64_t axis = axes[i] < 0 ? axes[i] + shape->dimensions_size() : axes[i];
      OP_REQUIRES(context, 0 <= axis && axis < shape->dimensions_size(),
                  absl::InvalidArgumentError(absl::StrCat(
                      type_string(), ": axis ", axes[i], " is out of range for input ", shape->ToString(),
                      ": expected a value in [", -shape->dimensions_size(), ", ", shape->dimensions_size(), ")")));
      if (shape->dimensions(axis) == 0) continue;
      if (shape->is_dynamic_dimension(axis)) {
        value = RollDynamic(value, xla::Reshape(xla::SliceInDim(shift, i, i + 1, 1, 0), {}), axis, sizes[axis], *shape);
        continue;
      }
      value = known ? RollByKnown(value, shifts[i], axis, shape->dimensions(axis))
                    : RollBy(value, xla::Reshape(xla::SliceInDim(shift, i, i + 1, 1, 0), {}), axis, *shape);
    }
    for (int64_t d = 0; d < shape->dimensions_size(); ++d) {
      if (sizes[d].valid()) value = xla::SetDimensionSize(value, sizes[d], d);
    }
    context->SetOutput(0, value);
  }
};

REGISTER_XLA_OP(Name("Roll").Device(kCompilationDevice).CompileTimeConstantInput("axis"), RollLowering)

}  // namespace
}  // namespace hpu
