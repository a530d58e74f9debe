// Lowerings of results without elements, for ops whose lowerings of tf2xla scatter or gather, which XLA refuses without
// elements.
#include <cstdint>

#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/lowerings/sized_lowering.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/value_inference.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using tensorflow::XlaOpKernelContext;

// Operands: data, segment ids, whose shape is a prefix of data's, and the number of segments.
class SegmentLowering : public SizedLowering {
 public:
  using SizedLowering::SizedLowering;

  void Compile(XlaOpKernelContext* context) override {
    int64_t segments = 0;
    OP_REQUIRES_OK(context, context->ConstantInputAsIntScalar(2, &segments, xla::ValueInferenceMode::kUpperBound));
    const tensorflow::TensorShape data = context->InputShape(0), ids = context->InputShape(1);
    if (segments != 0 || !tensorflow::TensorShapeUtils::StartsWith(data, ids)) {
      lowering().Compute(context->op_kernel_context());
      return;
    }
    tensorflow::TensorShape result = data;
    result.RemoveDimRange(0, ids.dims());
    result.InsertDim(0, 0);
    context->SetOutput(
        0, xla::Zeros(context->builder(), xla::ShapeUtil::MakeShape(context->input_xla_type(0), result.dim_sizes())));
  }
};

// Operands: data of the result's shape, and a length for each index of a dimension.
class ReverseSequenceLowering : public SizedLowering {
 public:
  using SizedLowering::SizedLowering;

  void Compile(XlaOpKernelContext* context) override {
    if (context->InputShape(0).num_elements() == 0) {
      context->SetOutput(0, context->Input(0));
    } else {
      lowering().Compute(context->op_kernel_context());
    }
  }
};

REGISTER_XLA_OP(Name("UnsortedSegmentSum").Device(kCompilationDevice).CompileTimeConstantInput("num_segments"),
                SegmentLowering)
REGISTER_XLA_OP(Name("UnsortedSegmentProd").Device(kCompilationDevice).CompileTimeConstantInput("num_segments"),
                SegmentLowering)
REGISTER_XLA_OP(Name("ReverseSequence").Device(kCompilationDevice), ReverseSequenceLowering)

}  // namespace
}  // namespace hpu
