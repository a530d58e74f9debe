// Lowerings of MaxPoolWithArgmax and its gradient, which tf2xla lacks. A window's first element is selected unless a
// later element is greater than all elements before it. So NaN counts only as the first element, as on the CPU.
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/base/status_macros.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/lowerings/window_positions.h"
#include "tensorflow/compiler/tf2xla/type_util.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"
#include "xla/util.h"

namespace hpu {
namespace {

using tensorflow::XlaOpKernelContext;
using xla::XlaOp;

// Base class with the window attributes that both ops share.
class PoolingLowering : public tensorflow::XlaOpKernel {
 public:
  explicit PoolingLowering(tensorflow::OpKernelConstruction* construction) : XlaOpKernel(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("padding", &padding_));
    OP_REQUIRES_OK(construction, construction->GetAttr("ksize", &sizes_));
    OP_REQUIRES_OK(construction, construction->GetAttr("strides", &strides_));
    OP_REQUIRES_OK(construction, construction->GetAttr("include_batch_in_index", &include_batch_));
    for (const auto& [name, numbers] : {std::pair("ksize", &sizes_), std::pair("strides", &strides_)}) {
      OP_REQUIRES(
          construction, numbers->size() == 4 && (*numbers)[0] == 1 && (*numbers)[3] == 1,
          absl::UnimplementedError(absl::StrCat(type_string(), ": ", name, " must be [1, rows, columns, 1], got [",
                                                absl::StrJoin(*numbers, ","), "]")));
    }
  }

 protected:
  absl::StatusOr<WindowPositions> WindowPositionsOf(const xla::Shape& images) const {
    if (images.dimensions_size() != 4) {
      // TensorFlow's own text.
      return absl::InvalidArgumentError("tensor_in must be 4-dimensional: " + images.ToString());
    }
    return WindowPositions::Make(type_string(), images.dimensions(), {sizes_[1], strides_[1]}, {sizes_[2], strides_[2]},
                                 padding_);
  }
  bool include_batch() const { return include_batch_; }

 private:
  tensorflow::Padding padding_;
  std::vector<int32_t> sizes_;
  std::vector<int32_t> strides_;
  bool include_batch_ = false;
};

class MaxArgmaxLowering : public PoolingLowering {
 public:
  using PoolingLowering::PoolingLowering;

  void Compile(XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> images = context->InputXlaShape(0);
    OP_REQUIRES_OK(context, images.status());
    const absl::StatusOr<WindowPositions> positions = WindowPositionsOf(*images);
    OP_REQUIRES_OK(context, positions.status());
    // TensorFlow's own text.
    OP_REQUIRES(context, !xla::ShapeUtil::IsZeroElementArray(*images),
                absl::InvalidArgumentError("tensor_in must not be empty, got " + images->ToString()));
    OP_REQUIRES(
        context, xla::ShapeUtil::ElementsIn(*images) <= std::numeric_limits<int32_t>::max(),
        absl::UnimplementedError(absl::StrCat(type_string(), ": input must have at most 2^31 - 1 elements, got ",
                                              images->ToString(), "; use a smaller batch")));
    xla::PrimitiveType type;
    OP_REQUIRES_OK(context, tensorflow::DataTypeToPrimitiveType(context->expected_output_dtype(1), &type));
    if (xla::Product(positions->windows()) == 0) {
      context->SetOutput(
          0, xla::Zeros(context->builder(), xla::ShapeUtil::MakeShape(images->element_type(), positions->windows())));
      return context->SetOutput(1,
                                xla::Zeros(context->builder(), xla::ShapeUtil::MakeShape(type, positions->windows())));
    }
    const absl::StatusOr<std::vector<XlaOp>> found = Find(context->Input(0), *positions);
    OP_REQUIRES_OK(context, found.status());
    context->SetOutput(0, (*found)[0]);
    context->SetOutput(1, xla::ConvertElementType(IndexOf((*found)[1], *positions), type));
  }

 private:
  // The maxima and their pixels' indices.
  static absl::StatusOr<std::vector<XlaOp>> Find(XlaOp images, const WindowPositions& positions) {
    xla::XlaBuilder* const builder = images.builder();
    HPU_ASSIGN_OR_RETURN(const xla::Shape shape, builder->GetShape(images));
    const XlaOp lowest = xla::MinFiniteValue(builder, shape.element_type());
    return positions.Fold(
        WindowPositions::Order::kForwards, {positions.FrameOf(images, lowest)},
        {xla::Broadcast(lowest, positions.windows()),
         xla::Broadcast(xla::ConstantR0<int32_t>(builder, -1), positions.windows())},
        [&positions](const WindowPosition& position, auto constants, auto values) {
          const XlaOp next = positions.At(constants[0], position);
          XlaOp taken = xla::Or(xla::Gt(next, values[0]), xla::Lt(values[1], xla::ZerosLike(values[1])));
          if (positions.ExtendBeyondImages()) taken = xla::And(taken, positions.IsInside(next.builder(), position));
          const XlaOp pixel = positions.PixelAt(next.builder(), position);
          return std::vector<XlaOp>{xla::Select(taken, next, values[0]), xla::Select(taken, pixel, values[1])};
        });
  }

  XlaOp IndexOf(XlaOp pixel, const WindowPositions& positions) const {
    xla::XlaBuilder* const builder = pixel.builder();
    const xla::Shape shape = xla::ShapeUtil::MakeShape(xla::S32, positions.windows());
    if (include_batch()) {
      pixel =
          pixel + xla::Iota(builder, shape, 0) * xla::ScalarLike(pixel, positions.images()[1] * positions.images()[2]);
    }
    return pixel * xla::ScalarLike(pixel, positions.images()[3]) + xla::Iota(builder, shape, 3);
  }
};

// Adds each element of the gradient at its int64 index into the whole batch.
XlaOp Scatter(XlaOp gradient, XlaOp indices, int64_t elements) {
  xla::XlaBuilder* const builder = gradient.builder();
  const xla::Shape* const shape = builder->GetShapePtr(gradient).value();
  const int64_t batch = shape->dimensions(0), count = batch * shape->dimensions(1);
  xla::ScatterDimensionNumbers numbers;
  numbers.add_inserted_window_dims(0);
  numbers.add_scatter_dims_to_operand_dims(0);
  numbers.set_index_vector_dim(1);
  const XlaOp sums = xla::Scatter(xla::Broadcast(xla::Zero(builder, shape->element_type()), {batch * elements}),
                                  xla::Reshape(indices, {count, 1}), xla::Reshape(gradient, {count}),
                                  xla::CreateScalarAddComputation(shape->element_type(), builder), numbers);
  return xla::Reshape(sums, {batch, elements});
}

// Ignores indices outside the batch, for which TensorFlow's CPU kernel aborts the process.
class MaxArgmaxGradientLowering : public PoolingLowering {
 public:
  using PoolingLowering::PoolingLowering;

  void Compile(XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> images = context->InputXlaShape(0), gradient = context->InputXlaShape(1),
                                     argmax = context->InputXlaShape(2);
    for (const auto* shape : {&images, &gradient, &argmax}) OP_REQUIRES_OK(context, shape->status());
    const absl::StatusOr<WindowPositions> positions = WindowPositionsOf(*images);
    OP_REQUIRES_OK(context, positions.status());
    for (const auto& [name, shape] : {std::pair("grad", &gradient), std::pair("argmax", &argmax)}) {
      OP_REQUIRES(context, (*shape)->dimensions() == absl::MakeConstSpan(positions->windows()),
                  absl::InvalidArgumentError(
                      absl::StrCat(type_string(), ": ", name, " must have the shape of the pooling's output, [",
                                   absl::StrJoin(positions->windows(), ","), "], got ", (*shape)->ToString())));
    }
    if (xla::ShapeUtil::IsZeroElementArray(*images) || xla::ShapeUtil::IsZeroElementArray(*gradient)) {
      return context->SetOutput(0, xla::Zeros(context->builder(), *images));
    }
    const xla::PrimitiveType type = images->element_type();
    const bool is_float = type == xla::F32 || type == xla::BF16 || type == xla::F16;
    const int64_t batch = images->dimensions(0), count = xla::ShapeUtil::ElementsIn(*gradient) / batch;
    const XlaOp grads =
        xla::Reshape(xla::ConvertElementType(context->Input(1), is_float ? xla::F32 : type), {batch, count});
    const XlaOp offsets = xla::Reshape(context->Input(2), {batch, count});
    const int64_t elements = xla::ShapeUtil::ElementsIn(*images) / batch;
    const XlaOp sums = Scatter(grads, include_batch() ? offsets : OfBatch(offsets, elements), elements);
    context->SetOutput(0, xla::Reshape(xla::ConvertElementType(sums, type), images->dimensions()));
  }

 private:
  // Converts indices within each image to indices within the batch.
  static XlaOp OfBatch(XlaOp indices, int64_t elements) {
    const xla::Shape* const shape = indices.builder()->GetShapePtr(indices).value();
    return indices + xla::Iota(indices.builder(), *shape, 0) * xla::ScalarLike(indices, elements);
  }
};

REGISTER_XLA_OP(Name("MaxPoolWithArgmax").Device(kCompilationDevice), MaxArgmaxLowering)
REGISTER_XLA_OP(Name("MaxPoolGradWithArgmax").Device(kCompilationDevice), MaxArgmaxGradientLowering)

}  // namespace
}  // namespace hpu
