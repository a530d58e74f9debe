// Lowerings of MirrorPad and MirrorPadGrad for arrays of dynamic shape. For static shapes, tf2xla's lowerings run.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/dynamic_shapes/bounded_arrays.h"
#include "plugin/compiler/make_lowering.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/slicing.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/literal.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using tensorflow::XlaOpKernelContext;
using xla::XlaOp;

class MirrorPadLowering : public tensorflow::XlaOpKernel {
 public:
  explicit MirrorPadLowering(tensorflow::OpKernelConstruction* construction) : XlaOpKernel(construction) {
    std::string mode;
    OP_REQUIRES_OK(construction, construction->GetAttr("mode", &mode));
    border_ = mode == "REFLECT" ? 1 : 0;
    absl::StatusOr<std::unique_ptr<OpKernel>> plain = MakeLowering(construction, tensorflow::DEVICE_CPU_XLA_JIT);
    OP_REQUIRES_OK(construction, plain.status());
    plain_ = *std::move(plain);
  }

  void Compile(XlaOpKernelContext* context) final {
    const absl::StatusOr<BoundedArray> input = ToBounded(context->Input(0));
    OP_REQUIRES_OK(context, input.status());
    if (input->shape.is_static()) return plain_->Compute(context->op_kernel_context());
    xla::Literal paddings;
    OP_REQUIRES_OK(context, context->ConstantInputAsInt64Literal(1, &paddings));
    OP_REQUIRES(
        context,
        paddings.shape().dimensions_size() == 2 && paddings.shape().dimensions(0) == input->shape.dimensions_size(),
        absl::InvalidArgumentError(absl::StrCat(type_string(), ": paddings must be a matrix with ",
                                                input->shape.dimensions_size(), " rows, got ",
                                                paddings.shape().ToString())));
    XlaOp array = input->array;
    std::vector<XlaOp> sizes = input->sizes;
    for (int64_t d = 0; d < input->shape.dimensions_size(); ++d) {
      const int64_t before = paddings.Get<int64_t>({d, 0}), after = paddings.Get<int64_t>({d, 1});
      OP_REQUIRES(context, before >= 0 && after >= 0,
                  absl::InvalidArgumentError("paddings must be non-negative, got " + paddings.ToString()));
      if (before == 0 && after == 0) continue;
      const XlaOp size = ImageSize(input->Size(d), before + after);
      const int64_t bound = ImageBound(input->shape.dimensions(d), before + after);
      const auto most = static_cast<int32_t>(std::max(before, after) + border_);
      OP_REQUIRES(context, bound >= most,
                  absl::InvalidArgumentError(absl::StrCat(type_string(), ": paddings must be smaller than dimension ",
                                                          d, ", got ", paddings.ToString())));
      RequireAtLaunch(xla::Ge(size, xla::ScalarLike(size, most)));
      array = Mirror(array, {d, bound, size, before, after});
      if (sizes[d].valid()) sizes[d] = ResultSize(size, before + after);
    }
    context->SetOutput(0, SetSizes(array, sizes));
  }

 protected:
  // One dimension of the image without padding.
  struct Edges {
    int64_t dimension;
    int64_t bound;
    XlaOp size;
    int64_t before;
    int64_t after;
  };

  virtual XlaOp ImageSize(XlaOp input_size, int64_t padding) const = 0;
  virtual int64_t ImageBound(int64_t input_bound, int64_t padding) const = 0;
  virtual XlaOp ResultSize(XlaOp image_size, int64_t padding) const = 0;
  virtual XlaOp Mirror(XlaOp array, const Edges& edges) const = 0;

  static XlaOp Number(XlaOp size, int64_t value) { return xla::ScalarLike(size, value); }
  // 1 if the edge itself is not repeated, otherwise 0.
  int64_t border() const { return border_; }

 private:
  int64_t border_ = 0;
  std::unique_ptr<OpKernel> plain_;
};

class MirrorPadForwardLowering final : public MirrorPadLowering {
 public:
  using MirrorPadLowering::MirrorPadLowering;

 private:
  XlaOp ImageSize(XlaOp input_size, int64_t) const override { return input_size; }
  int64_t ImageBound(int64_t input_bound, int64_t) const override { return input_bound; }
  XlaOp ResultSize(XlaOp image_size, int64_t padding) const override {
    return image_size + Number(image_size, padding);
  }

  XlaOp Mirror(XlaOp array, const Edges& edges) const override {
    xla::XlaBuilder* const builder = array.builder();
    const XlaOp place = xla::Iota(builder, xla::S32, edges.bound + edges.before + edges.after);
    const XlaOp index = place - Number(place, edges.before);
    const XlaOp low = xla::Select(xla::Lt(index, xla::ZerosLike(index)), Number(index, border() - 1) - index, index);
    const XlaOp high = edges.size * Number(edges.size, 2) - Number(edges.size, 1 + border()) - index;
    const XlaOp source = xla::Select(xla::Ge(index, edges.size), high, low);
    // Places past the result's size may have any source.
    const XlaOp inside = xla::Clamp(Number(source, 0), source, Number(source, edges.bound - 1));
    return xla::TorchIndexSelect(array, inside, edges.dimension);
  }
};

class MirrorPadGradLowering final : public MirrorPadLowering {
 public:
  using MirrorPadLowering::MirrorPadLowering;

 private:
  XlaOp ImageSize(XlaOp input_size, int64_t padding) const override { return input_size - Number(input_size, padding); }
  int64_t ImageBound(int64_t input_bound, int64_t padding) const override { return input_bound - padding; }
  XlaOp ResultSize(XlaOp image_size, int64_t) const override { return image_size; }

  // Adds the gradients of an image's mirrored elements to the gradient of the element.
  XlaOp Mirror(XlaOp array, const Edges& edges) const override {
    xla::XlaBuilder* const builder = array.builder();
    const XlaOp pixel = xla::Iota(builder, xla::S32, edges.bound);
    const XlaOp before = Number(pixel, edges.before);
    const XlaOp total = edges.size + Number(edges.size, edges.before + edges.after);
    const XlaOp low = before + Number(pixel, border() - 1) - pixel;
    const XlaOp has_low = xla::And(xla::Ge(pixel, Number(pixel, border())), xla::Ge(low, Number(low, 0)));
    const XlaOp high = edges.size * Number(edges.size, 2) + Number(edges.size, edges.before - 1 - border()) - pixel;
    const XlaOp has_high = xla::And(xla::Lt(pixel, edges.size - Number(edges.size, border())), xla::Lt(high, total));
    XlaOp sum = xla::TorchIndexSelect(array, pixel + before, edges.dimension);
    if (edges.before > 0) sum = sum + Selected(array, low, has_low, edges);
    if (edges.after > 0) sum = sum + Selected(array, high, has_high, edges);
    return sum;
  }

  // The elements at `index`; zero where `exists` is false.
  static XlaOp Selected(XlaOp array, XlaOp index, XlaOp exists, const Edges& edges) {
    const XlaOp last = Number(index, edges.bound + edges.before + edges.after - 1);
    const XlaOp elements = xla::TorchIndexSelect(array, xla::Clamp(Number(index, 0), index, last), edges.dimension);
    const absl::StatusOr<xla::Shape> shape = array.builder()->GetShape(elements);
    if (!shape.ok()) return array.builder()->ReportError(shape.status());
    return xla::Select(xla::BroadcastInDim(exists, shape->dimensions(), {edges.dimension}), elements,
                       xla::ZerosLike(elements));
  }
};

REGISTER_XLA_OP(Name("MirrorPad").Device(kCompilationDevice).CompileTimeConstantInput("paddings"),
                MirrorPadForwardLowering)
REGISTER_XLA_OP(Name("MirrorPadGrad").Device(kCompilationDevice).CompileTimeConstantInput("paddings"),
                MirrorPadGradLowering)

}  // namespace
}  // namespace hpu
