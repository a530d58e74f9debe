// Lowerings of max pooling gradients (MaxPoolGrad) and their gradients (MaxPoolGradGrad). The lowerings select the same
// elements as TensorFlow's CPU kernels, which matters for ties and NaN. Arguments are checked beforehand
// (pooling_rules.h).
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/dynamic_shapes/dynamic_windows.h"
#include "plugin/compiler/lowerings/pool_padding.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/shape_util.h"
#include "xla/util.h"

namespace hpu {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::XlaOpKernelContext;
using xla::XlaOp;
using Numbers = std::vector<int64_t>;

class SecondPoolLowering : public tensorflow::XlaOpKernel {
 public:
  explicit SecondPoolLowering(OpKernelConstruction* construction) : XlaOpKernel(construction) {
    if (construction->num_inputs() == 3) {
      OP_REQUIRES_OK(construction, construction->GetAttr("ksize", &sizes_));
      OP_REQUIRES_OK(construction, construction->GetAttr("strides", &strides_));
    }
    OP_REQUIRES_OK(construction, padding_.Initialize(construction));
    has_padded_images_ = construction->HasAttr(kPlacedWindows);
  }

  void Compile(XlaOpKernelContext* context) final {
    Numbers sizes = sizes_, strides = strides_;
    if (context->num_inputs() == 5) {
      OP_REQUIRES_OK(context, context->ConstantInputAsIntVector(3, &sizes));
      OP_REQUIRES_OK(context, context->ConstantInputAsIntVector(4, &strides));
    }
    context->SetOutput(0, Gradient(context->Input(0), context->Input(1), context->Input(2), sizes, strides));
  }

 protected:
  virtual XlaOp Gradient(XlaOp images, XlaOp maxima, XlaOp gradient, const Numbers& sizes,
                         const Numbers& strides) const = 0;
  const PoolPadding& padding() const { return padding_; }
  // Whether the images contain the padding, which is minus infinity.
  bool has_padded_images() const { return has_padded_images_; }

 private:
  Numbers sizes_;
  Numbers strides_;
  PoolPadding padding_;
  bool has_padded_images_ = false;
};

// A window's first element is its maximum unless a later element is greater. So NaN counts only as the first element.
class MaxPoolGradLowering : public SecondPoolLowering {
 public:
  using SecondPoolLowering::SecondPoolLowering;

 protected:
  XlaOp Gradient(XlaOp images, XlaOp, XlaOp gradient, const Numbers& sizes, const Numbers& strides) const override {
    xla::XlaBuilder* const builder = images.builder();
    const absl::StatusOr<xla::Shape> shape = builder->GetShape(images);
    if (!shape.ok()) return builder->ReportError(shape.status());
    const xla::PrimitiveType type = shape->element_type();
    return xla::SelectAndScatterWithGeneralPadding(images, FirstMaximum(type, has_padded_images()), sizes, strides,
                                                   padding().Of(shape->dimensions(), sizes, strides), gradient,
                                                   xla::Zero(builder, type),
                                                   xla::CreateScalarAddComputation(type, builder));
  }

 private:
  // Whether the first operand stays the maximum. Padding does not stay, also if the second operand is NaN.
  static xla::XlaComputation FirstMaximum(xla::PrimitiveType type, bool has_padded_images) {
    xla::XlaBuilder builder("first_maximum");
    const xla::Shape number = xla::ShapeUtil::MakeShape(type, {});
    const XlaOp first = xla::Parameter(&builder, 0, number, "first");
    const XlaOp second = xla::Parameter(&builder, 1, number, "second");
    const XlaOp stays = xla::Not(xla::Lt(first, second));
    if (has_padded_images) xla::And(stays, xla::Ne(first, xla::MinValue(&builder, type)));
    return builder.Build().value();
  }
};

// Limit of a window's size, because each position adds instructions to the program.
constexpr int64_t kMaxWindow = 256;

// Padding at both ends of each dimension.
xla::PaddingConfig Edges(absl::Span<const int64_t> dimensions, const Numbers& sizes, const Numbers& strides,
                         const PoolPadding& padding) {
  xla::PaddingConfig edges;
  for (const auto& [low, high] : padding.Of(dimensions, sizes, strides)) {
    xla::PaddingConfig::PaddingConfigDimension* const edge = edges.add_dimensions();
    edge->set_edge_padding_low(low);
    edge->set_edge_padding_high(high);
  }
  return edges;
}

// Start of the slice that contains one position of all windows. Positions are numbered in row-major order.
Numbers StartOf(int64_t position, const Numbers& sizes) {
  Numbers start(sizes.size());
  for (int64_t i = static_cast<int64_t>(sizes.size()) - 1; i >= 0; --i) {
    start[i] = position % sizes[i];
    position /= sizes[i];
  }
  return start;
}

// The elements at one position of all windows.
XlaOp ElementsAt(XlaOp array, const Numbers& start, const Numbers& strides, absl::Span<const int64_t> windows) {
  Numbers limit(start.size());
  for (size_t i = 0; i < start.size(); ++i) limit[i] = start[i] + (windows[i] - 1) * strides[i] + 1;
  return xla::Slice(array, start, limit, strides);
}

// Inverse of ElementsAt: zeros at all other places, and without the padding.
XlaOp Placed(XlaOp elements, const Numbers& start, const Numbers& strides, absl::Span<const int64_t> windows,
             const xla::Shape& images, const xla::PaddingConfig& edges) {
  xla::PaddingConfig config;
  for (size_t i = 0; i < start.size(); ++i) {
    xla::PaddingConfig::PaddingConfigDimension* const dimension = config.add_dimensions();
    const int64_t low = start[i] - edges.dimensions(static_cast<int>(i)).edge_padding_low();
    const int64_t extent = (windows[i] - 1) * strides[i] + 1;
    dimension->set_edge_padding_low(low);
    dimension->set_interior_padding(strides[i] - 1);
    dimension->set_edge_padding_high(images.dimensions(static_cast<int>(i)) - low - extent);
  }
  return xla::Pad(elements, xla::Zero(elements.builder(), images.element_type()), config);
}

// Whether the same program computed these maxima by pooling.
bool ArePooled(XlaOp maxima) {
  using Friend = xla::internal::XlaBuilderFriend;
  const xla::HloInstructionProto* instruction = Friend::GetInstruction(maxima);
  while (instruction != nullptr && instruction->opcode() == xla::HloOpcodeString(xla::HloOpcode::kSetDimensionSize)) {
    instruction = Friend::GetInstructionByHandle(maxima.builder(), instruction->operand_ids(0));
  }
  return instruction != nullptr && instruction->opcode() == xla::HloOpcodeString(xla::HloOpcode::kReduceWindow);
}

// For volumes, each window's gradient goes to all elements that differ from the maximum by less than 1e-5. If the graph
// also contains the pooling, TensorFlow runs oneDNN's kernels on the CPU, which select only the first maximum.
class MaxPool3DGradLowering final : public MaxPoolGradLowering {
 public:
  using MaxPoolGradLowering::MaxPoolGradLowering;

 private:
  XlaOp Gradient(XlaOp images, XlaOp maxima, XlaOp gradient, const Numbers& sizes,
                 const Numbers& strides) const override {
    // The CPU has no kernel for float16. Large windows would make large programs.
    const bool has_cpu_kernel = input_type(0) != tensorflow::DT_HALF;
    if (!has_cpu_kernel || ArePooled(maxima) || xla::Product(sizes) > kMaxWindow) {
      return MaxPoolGradLowering::Gradient(images, maxima, gradient, sizes, strides);
    }
    xla::XlaBuilder* const builder = images.builder();
    const absl::StatusOr<xla::Shape> shape = builder->GetShape(images), result_shape = builder->GetShape(maxima);
    if (!shape.ok()) return builder->ReportError(shape.status());
    if (!result_shape.ok()) return builder->ReportError(result_shape.status());
    const xla::PaddingConfig edges = Edges(shape->dimensions(), sizes, strides, padding());
    const XlaOp padded = xla::Pad(images, xla::Zero(builder, shape->element_type()), edges);
    const XlaOp zero = xla::ZerosLike(gradient), bound = xla::ScalarLike(maxima, 1e-5);
    XlaOp result = xla::ZerosLike(images);
    for (int64_t position = 0; position < xla::Product(sizes); ++position) {
      const Numbers start = StartOf(position, sizes);
      const XlaOp elements = ElementsAt(padded, start, strides, result_shape->dimensions());
      const XlaOp chosen = xla::Select(xla::Lt(xla::Abs(elements - maxima), bound), gradient, zero);
      result = result + Placed(chosen, start, strides, result_shape->dimensions(), *shape, edges);
    }
    return result;
  }
};

// Returns, for each window, the gradient's element at the first place that equals the window's maximum; 0 without such
// a place. Fails with UNIMPLEMENTED for windows larger than kMaxWindow.
class MaxPoolGradGradLowering final : public SecondPoolLowering {
 public:
  using SecondPoolLowering::SecondPoolLowering;

 private:
  XlaOp Gradient(XlaOp images, XlaOp maxima, XlaOp gradient, const Numbers& sizes,
                 const Numbers& strides) const override {
    xla::XlaBuilder* const builder = images.builder();
    const absl::StatusOr<xla::Shape> shape = builder->GetShape(images), result_shape = builder->GetShape(maxima);
    if (!shape.ok()) return builder->ReportError(shape.status());
    if (!result_shape.ok()) return builder->ReportError(result_shape.status());
    XlaOp result = xla::Zeros(builder, *result_shape);
    if (xla::ShapeUtil::IsZeroElementArray(*result_shape)) return result;
    const int64_t window = xla::Product(sizes);
    if (window > kMaxWindow) {
      return builder->ReportError(absl::UnimplementedError(absl::StrCat(type_string(), ": windows of ", window,
                                                                        " elements are not supported; the maximum is ",
                                                                        kMaxWindow, "; use smaller windows")));
    }

    const xla::PaddingConfig edges = Edges(shape->dimensions(), sizes, strides, padding());
    const XlaOp zero = xla::Zero(builder, shape->element_type()), no = xla::ConstantR0<bool>(builder, false);
    const XlaOp inside = xla::Broadcast(xla::ConstantR0<bool>(builder, true), shape->dimensions());
    const XlaOp padded_images = xla::Pad(images, zero, edges), padded_gradient = xla::Pad(gradient, zero, edges);
    const XlaOp padded_inside = xla::Pad(inside, no, edges);
    XlaOp found = xla::Broadcast(no, result_shape->dimensions());
    for (int64_t position = 0; position < window; ++position) {
      const Numbers start = StartOf(position, sizes);
      const auto at = [&](XlaOp array) { return ElementsAt(array, start, strides, result_shape->dimensions()); };
      const XlaOp equal = xla::And(at(padded_inside), xla::Eq(at(padded_images), maxima));
      const XlaOp first = xla::And(equal, xla::Not(found));
      result = xla::Select(first, at(padded_gradient), result);
      found = xla::Or(found, equal);
    }
    return result;
  }
};

#define HPU_REGISTER(op, lowering) REGISTER_XLA_OP(Name(op).Device(kCompilationDevice), lowering)
#define HPU_REGISTER_V2(op, lowering)                                                                            \
  REGISTER_XLA_OP(                                                                                               \
      Name(op).Device(kCompilationDevice).CompileTimeConstantInput("ksize").CompileTimeConstantInput("strides"), \
      lowering)
HPU_REGISTER("MaxPoolGrad", MaxPoolGradLowering)
HPU_REGISTER_V2("MaxPoolGradV2", MaxPoolGradLowering)
HPU_REGISTER("MaxPool3DGrad", MaxPool3DGradLowering)
HPU_REGISTER("MaxPoolGradGrad", MaxPoolGradGradLowering)
HPU_REGISTER_V2("MaxPoolGradGradV2", MaxPoolGradGradLowering)
HPU_REGISTER("MaxPool3DGradGrad", MaxPoolGradGradLowering)
#undef HPU_REGISTER
#undef HPU_REGISTER_V2

}  // namespace
}  // namespace hpu
