// Lowerings of Dilation2D and its gradients, which tf2xla lacks. A window's maximum is the first largest sum of a pixel
// and its filter element. NaN and sums that do not exceed the type's lowest finite value are ignored.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/base/status_macros.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/lowerings/window_positions.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/slicing.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using tensorflow::XlaOpKernelContext;
using xla::XlaOp;
using Order = WindowPositions::Order;

XlaOp Integer(XlaOp like, int32_t value) { return xla::ConstantR0<int32_t>(like.builder(), value); }

// Dilation of images by a filter of the same type. 16-bit floats are widened to float32. Sums are rounded as on the
// CPU, gradients only once, at the end.
class Dilation {
 public:
  Dilation(const WindowPositions& positions, xla::PrimitiveType type) : positions_(positions), type_(type) {}

  XlaOp Widened(XlaOp value) const { return IsSmallFloat() ? xla::ConvertElementType(value, xla::F32) : value; }

  absl::StatusOr<XlaOp> Maxima(XlaOp images, XlaOp filter) const {
    HPU_ASSIGN_OR_RETURN(const Maximum maximum, Find(images, filter));
    return maximum.value;
  }

  absl::StatusOr<XlaOp> InputGradient(XlaOp images, XlaOp filter, XlaOp gradient) const {
    HPU_ASSIGN_OR_RETURN(const Maximum maximum, Find(images, filter));
    const XlaOp zero = xla::Zero(images.builder(), TypeOf(gradient));
    // Starts with the last positions, which belong to the first windows, to match TensorFlow's order of additions.
    HPU_ASSIGN_OR_RETURN(const std::vector<XlaOp> frames,
                         positions_.Fold(Order::kBackwards, {maximum.position, gradient}, {positions_.FrameOf(zero)},
                                         [this](const WindowPosition& position, auto constants, auto values) {
                                           const XlaOp more = Chosen(constants[0], position.number, constants[1]);
                                           return std::vector<XlaOp>{positions_.AddedAt(values[0], position, more)};
                                         }));
    return positions_.ImagesOf(frames[0]) + ToCorners(Chosen(maximum.position, Integer(gradient, -1), gradient));
  }

  absl::StatusOr<XlaOp> FilterGradient(XlaOp images, XlaOp filter, XlaOp gradient) const {
    HPU_ASSIGN_OR_RETURN(const Maximum maximum, Find(images, filter));
    const xla::PrimitiveType type = TypeOf(gradient);
    const XlaOp position = xla::Max(maximum.position, xla::ZerosLike(maximum.position));
    const XlaOp zeros =
        xla::Broadcast(xla::Zero(images.builder(), type), {positions_.positions(), positions_.images()[3]});
    HPU_ASSIGN_OR_RETURN(
        const std::vector<XlaOp> sums,
        positions_.Fold(Order::kForwards, {position, gradient}, {zeros},
                        [type](const WindowPosition& position, auto constants, auto values) {
                          const XlaOp more = Chosen(constants[0], position.number, constants[1]);
                          xla::XlaBuilder* const builder = more.builder();
                          const XlaOp sum = xla::Reduce(more, xla::Zero(builder, type),
                                                        xla::CreateScalarAddComputation(type, builder), {0, 1, 2});
                          return std::vector<XlaOp>{xla::DynamicUpdateSlice(
                              values[0], xla::Broadcast(sum, {1}), {position.number, xla::ZerosLike(position.number)})};
                        }));
    return xla::Reshape(sums[0], {positions_.rows().window, positions_.columns().window, positions_.images()[3]});
  }

 private:
  struct Maximum {
    XlaOp value;
    XlaOp position;  // -1 if all sums are ignored
  };

  static xla::PrimitiveType TypeOf(XlaOp value) { return value.builder()->GetShapePtr(value).value()->element_type(); }
  bool IsSmallFloat() const { return type_ == xla::F16 || type_ == xla::BF16; }

  // `numbers` for `position` == `number`; otherwise 0.
  static XlaOp Chosen(XlaOp position, XlaOp number, XlaOp numbers) {
    return xla::Select(xla::Eq(position, number), numbers, xla::ZerosLike(numbers));
  }

  XlaOp Sum(XlaOp pixels, XlaOp filter) const {
    const XlaOp sum = xla::Add(pixels, filter, {3});
    if (!IsSmallFloat()) return sum;
    return xla::ReducePrecision(sum, xla::primitive_util::ExponentWidth(type_),
                                xla::primitive_util::SignificandWidth(type_) - 1);
  }

  absl::StatusOr<Maximum> Find(XlaOp images, XlaOp filter) const {
    xla::XlaBuilder* const builder = images.builder();
    const bool floats = xla::primitive_util::IsFloatingPointType(type_);
    const XlaOp lowest = xla::ConvertElementType(xla::MinFiniteValue(builder, type_), TypeOf(images));
    const XlaOp outside = floats ? xla::NanValue(builder, TypeOf(images)) : lowest;
    const XlaOp taps = xla::Reshape(filter, {positions_.positions(), positions_.images()[3]});
    const std::vector<XlaOp> none = {xla::Broadcast(lowest, positions_.windows()),
                                     xla::Broadcast(xla::ConstantR0<int32_t>(builder, -1), positions_.windows())};
    HPU_ASSIGN_OR_RETURN(
        const std::vector<XlaOp> found,
        positions_.Fold(
            Order::kForwards, {positions_.FrameOf(images, outside), taps}, none,
            [&](const WindowPosition& position, auto constants, auto values) {
              const XlaOp tap = xla::DynamicSlice(constants[1], {position.number, xla::ZerosLike(position.number)},
                                                  {1, positions_.images()[3]});
              const XlaOp sum = Sum(positions_.At(constants[0], position), xla::Reshape(tap, {positions_.images()[3]}));
              XlaOp greater = xla::Gt(sum, values[0]);
              if (!floats) greater = xla::And(greater, positions_.IsInside(sum.builder(), position));
              const XlaOp number = xla::Broadcast(position.number, positions_.windows());
              return std::vector<XlaOp>{xla::Select(greater, sum, values[0]), xla::Select(greater, number, values[1])};
            }));
    return Maximum{found[0], found[1]};
  }

  // Adds each window's value at the window's first pixel, or at the image's edge if the window begins in the padding.
  XlaOp ToCorners(XlaOp numbers) const {
    for (const int64_t dimension : {1, 2}) {
      const WindowDimension& d = dimension == 1 ? positions_.rows() : positions_.columns();
      const int64_t length = positions_.images()[dimension], windows = positions_.windows()[dimension];
      const int64_t before = std::min((d.pad_low + d.stride - 1) / d.stride, windows);  // windows that begin outside
      xla::XlaBuilder* const builder = numbers.builder();
      const XlaOp zero = xla::Zero(builder, TypeOf(numbers));
      const auto moved = [&](XlaOp some, int64_t begin, int64_t count, int64_t stride) {
        xla::PaddingConfig padding = xla::MakeNoPaddingConfig(4);
        auto* const edge = padding.mutable_dimensions(dimension);
        edge->set_edge_padding_low(begin);
        edge->set_interior_padding(stride - 1);
        edge->set_edge_padding_high(length - begin - ((count - 1) * stride + 1));
        return xla::Pad(some, zero, padding);
      };
      XlaOp all = xla::Broadcast(zero, DimsOf(numbers, dimension, length));
      if (before > 0) {
        const XlaOp first = xla::Reduce(xla::SliceInDim(numbers, 0, before, 1, dimension), zero,
                                        xla::CreateScalarAddComputation(TypeOf(numbers), builder), {dimension});
        all = all + moved(xla::Reshape(first, DimsOf(numbers, dimension, 1)), 0, 1, 1);
      }
      if (before < windows) {
        all = all + moved(xla::SliceInDim(numbers, before, windows, 1, dimension), before * d.stride - d.pad_low,
                          windows - before, d.stride);
      }
      numbers = all;
    }
    return numbers;
  }

  static std::vector<int64_t> DimsOf(XlaOp value, int64_t dimension, int64_t length) {
    const xla::Shape* const shape = value.builder()->GetShapePtr(value).value();
    std::vector<int64_t> dims(shape->dimensions().begin(), shape->dimensions().end());
    dims[dimension] = length;
    return dims;
  }

  const WindowPositions& positions_;
  const xla::PrimitiveType type_;
};

absl::Status Check(const std::string& op, const xla::Shape& images, const xla::Shape& filter) {
  // The first three errors are TensorFlow's own texts.
  if (images.dimensions_size() != 4)
    return absl::InvalidArgumentError("input must be 4-dimensional: " + images.ToString());
  if (filter.dimensions_size() != 3)
    return absl::InvalidArgumentError("filter must be 3-dimensional: " + filter.ToString());
  if (images.dimensions(3) != filter.dimensions(2)) {
    return absl::InvalidArgumentError("input and filter must have the same depth: " + images.ToString() + ", " +
                                      filter.ToString());
  }
  return filter.dimensions(0) > 0 && filter.dimensions(1) > 0
             ? absl::OkStatus()
             : absl::UnimplementedError(op + ": filter must have at least one row and one column, got " +
                                        filter.ToString());
}

enum class Of { kMaxima, kInput, kFilter };

template <Of of>
class DilationLowering : public tensorflow::XlaOpKernel {
 public:
  explicit DilationLowering(tensorflow::OpKernelConstruction* construction) : XlaOpKernel(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("padding", &padding_));
    for (const auto& [name, numbers] : {std::pair("strides", &strides_), std::pair("rates", &rates_)}) {
      OP_REQUIRES_OK(construction, construction->GetAttr(name, numbers));
      OP_REQUIRES(
          construction, numbers->size() == 4 && (*numbers)[0] == 1 && (*numbers)[3] == 1,
          absl::UnimplementedError(absl::StrCat(type_string(), ": ", name, " must be [1, rows, columns, 1], got [",
                                                absl::StrJoin(*numbers, ","), "]")));
    }
  }

  void Compile(XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> images = context->InputXlaShape(0), filter = context->InputXlaShape(1);
    OP_REQUIRES_OK(context, images.status());
    OP_REQUIRES_OK(context, filter.status());
    OP_REQUIRES_OK(context, Check(type_string(), *images, *filter));
    const absl::StatusOr<WindowPositions> positions =
        WindowPositions::Make(type_string(), images->dimensions(), {filter->dimensions(0), strides_[1], rates_[1]},
                              {filter->dimensions(1), strides_[2], rates_[2]}, padding_);
    OP_REQUIRES_OK(context, positions.status());
    const xla::Shape maxima = xla::ShapeUtil::MakeShape(images->element_type(), positions->windows());
    const xla::Shape& result = of == Of::kMaxima ? maxima : of == Of::kInput ? *images : *filter;
    if (of != Of::kMaxima) {
      const absl::StatusOr<xla::Shape> gradient = context->InputXlaShape(2);
      OP_REQUIRES_OK(context, gradient.status());
      OP_REQUIRES(
          context, xla::ShapeUtil::SameDimensions(*gradient, maxima),
          absl::InvalidArgumentError(absl::StrCat(type_string(), ": out_backprop has incompatible size: expected ",
                                                  maxima.ToString(), ", got ", gradient->ToString())));
    }
    if (xla::ShapeUtil::IsZeroElementArray(maxima) || xla::ShapeUtil::IsZeroElementArray(result)) {
      return context->SetOutput(0, xla::Zeros(context->builder(), result));
    }
    const absl::StatusOr<XlaOp> value = ValueOf(context, Dilation(*positions, result.element_type()));
    OP_REQUIRES_OK(context, value.status());
    context->SetOutput(0, xla::ConvertElementType(*value, result.element_type()));
  }

 private:
  static absl::StatusOr<XlaOp> ValueOf(XlaOpKernelContext* context, const Dilation& dilation) {
    std::vector<XlaOp> operands;
    for (int i = 0; i < context->num_inputs(); ++i) operands.push_back(dilation.Widened(context->Input(i)));
    if (of == Of::kMaxima) return dilation.Maxima(operands[0], operands[1]);
    return of == Of::kInput ? dilation.InputGradient(operands[0], operands[1], operands[2])
                            : dilation.FilterGradient(operands[0], operands[1], operands[2]);
  }

  tensorflow::Padding padding_;
  std::vector<int32_t> strides_;
  std::vector<int32_t> rates_;
};

REGISTER_XLA_OP(Name("Dilation2D").Device(kCompilationDevice), DilationLowering<Of::kMaxima>)
REGISTER_XLA_OP(Name("Dilation2DBackpropInput").Device(kCompilationDevice), DilationLowering<Of::kInput>)
REGISTER_XLA_OP(Name("Dilation2DBackpropFilter").Device(kCompilationDevice), DilationLowering<Of::kFilter>)

}  // namespace
}  // namespace hpu
