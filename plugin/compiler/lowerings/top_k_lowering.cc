// Lowering of TopKV2, and so of tf.sort and tf.argsort, that treats -0 and 0 as equal, like the CPU kernel. tf2xla's
// lowering sorts in total order, in which -0 precedes 0.
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/dynamic_shapes/size_numbers.h"
#include "plugin/compiler/lowerings/elementwise_lowering.h"
#include "tensorflow/compiler/tf2xla/type_util.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/types.h"
#include "xla/hlo/builder/lib/comparators.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using xla::XlaOp;

class TopKLowering : public tensorflow::XlaOpKernel {
 public:
  explicit TopKLowering(tensorflow::OpKernelConstruction* construction) : XlaOpKernel(construction) {
    OP_REQUIRES_OK(construction, tensorflow::DataTypeToPrimitiveType(construction->output_type(1), &index_type_));
  }

  void Compile(tensorflow::XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(0);
    OP_REQUIRES_OK(context, shape.status());
    int64_t k = 0;
    // In jit_compile functions, k may be a size that is known up to a bound.
    bool k_is_dynamic = false;
    OP_REQUIRES_OK(context, context->ConstantInputAsIntScalar(1, &k, xla::ValueInferenceMode::kUpperBound));
    OP_REQUIRES_OK(context, context->ResolveInputDynamismIntoPred(1, &k_is_dynamic));
    // TensorFlow's own texts.
    OP_REQUIRES(context, k >= 0, absl::InvalidArgumentError(absl::StrCat("Need k >= 0, got ", k)));
    OP_REQUIRES(context, shape->dimensions_size() >= 1,
                absl::InvalidArgumentError("input must be >= 1-D, got shape []"));
    const int64_t last = shape->dimensions_size() - 1;
    OP_REQUIRES(context, shape->dimensions(last) >= k,
                absl::InvalidArgumentError(
                    absl::StrCat("input must have at least k columns. Had ", shape->dimensions(last), ", needed ", k)));
    const XlaOp x = context->Input(0);
    xla::XlaBuilder* const builder = context->builder();
    if (shape->is_dynamic_dimension(last) && !k_is_dynamic) {
      RequireAtLeast(builder, SizeOf(x, *shape, last), SizeNumber::Known(k));
    }
    XlaOp positions = xla::Iota(builder, xla::ShapeUtil::MakeShape(xla::S32, shape->dimensions()), last);
    for (int64_t i = 0; i <= last; ++i) {
      if (shape->is_dynamic_dimension(i)) positions = xla::SetDimensionSize(positions, xla::GetDimensionSize(x, i), i);
    }
    std::vector<XlaOp> operands = {x, positions};
    if (tensorflow::DataTypeIsFloating(input_type(0))) {
      const XlaOp zero = xla::ZerosLike(x);
      const XlaOp keys = xla::Select(xla::Eq(x, zero), zero, x);
      // x as a payload keeps the signs of zeros. Gaudi compares float32 keys, but not bfloat16 keys, in total order.
      operands = {Widened(keys, shape->element_type()), positions, x};
    }
    std::vector<xla::PrimitiveType> types;
    for (const XlaOp operand : operands) types.push_back(builder->GetShape(operand)->element_type());
    const XlaOp sorted = xla::Sort(operands, xla::CreateScalarGtComputation(types, builder), last, /*is_stable=*/true);
    const auto first = [&](int64_t operand) {
      const XlaOp slice = xla::SliceInDim(xla::GetTupleElement(sorted, operand), 0, k, 1, last);
      if (k_is_dynamic) return xla::SetDimensionSize(slice, context->Input(1), last);
      // Newer XLA gives a part of a dynamic dimension the size of the whole.
      return builder->GetShape(slice)->is_dynamic_dimension(last) ? xla::RemoveDynamicDimension(slice, last) : slice;
    };
    context->SetOutput(0, first(operands.size() == 2 ? 0 : 2));
    context->SetOutput(1, xla::ConvertElementType(first(1), index_type_));
  }

 private:
  xla::PrimitiveType index_type_ = xla::S32;
};

REGISTER_XLA_OP(Name("TopKV2").Device(kCompilationDevice).CompileTimeConstantInput("k"), TopKLowering)

}  // namespace
}  // namespace hpu
