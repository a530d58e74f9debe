// Lowering of ReverseV2 along dimensions of changing size. XLA's dynamic padder removes a reversal while it still uses
// it as a key, so that other operations get no mask, or the compiler crashes.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/lowerings/dynamic_slices.h"
#include "plugin/compiler/lowerings/sized_lowering.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu {
namespace {

using tensorflow::XlaOpKernelContext;

class ReverseLowering : public SizedLowering {
 public:
  using SizedLowering::SizedLowering;

  void Compile(XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(0);
    OP_REQUIRES_OK(context, shape.status());
    std::vector<int64_t> axes;
    OP_REQUIRES_OK(context, context->ConstantInputReshapedToIntVector(1, &axes));
    bool is_dynamic = false;
    for (int64_t& axis : axes) {
      if (axis < 0) axis += shape->dimensions_size();
      is_dynamic = is_dynamic || (axis >= 0 && axis < shape->dimensions_size() && shape->is_dynamic_dimension(axis));
    }
    if (!is_dynamic) {
      lowering().Compute(context->op_kernel_context());
      return;
    }
    xla::XlaOp value = context->Input(0);
    std::vector<SizeNumber> sizes = SizesOf(value, *shape);
    value = RemoveSizes(value, *shape);
    for (const int64_t d : axes) {
      OP_REQUIRES(context, d >= 0 && d < shape->dimensions_size(),
                  absl::InvalidArgumentError(
                      absl::StrCat(name(), ": axis must be below ", shape->dimensions_size(), ", got ", d)));
      value = SliceDimension(value, StridedDimension(std::nullopt, std::nullopt, -1, sizes[d]), d);
    }
    context->SetOutput(0, SetSizes(value, sizes));
  }
};

REGISTER_XLA_OP(Name("ReverseV2").Device(kCompilationDevice).CompileTimeConstantInput("axis"), ReverseLowering)

}  // namespace
}  // namespace hpu
