// Lowerings of UnsortedSegmentMax and UnsortedSegmentMin with the CPU kernels' comparisons: an element replaces the
// segment's value unless the value is greater, or smaller. So a NaN replaces all elements before it, and the next
// element replaces the NaN. tf2xla's lowerings propagate NaN. XLA:CPU scatters elements in their order.
#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/lib/scatter.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/value_inference.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using tensorflow::XlaOpKernelContext;
using xla::XlaOp;

XlaOp KeptGreatest(XlaOp kept, XlaOp element, xla::XlaBuilder*) {
  return xla::Select(xla::Lt(element, kept), kept, element);
}
XlaOp KeptSmallest(XlaOp kept, XlaOp element, xla::XlaBuilder*) {
  return xla::Select(xla::Gt(element, kept), kept, element);
}

// Operands: data, segment ids, whose shape is a prefix of data's, and the number of segments.
template <bool kGreatest>
class SegmentExtremumLowering : public tensorflow::XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;
  void Compile(XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> data = context->InputXlaShape(0), ids = context->InputXlaShape(1);
    OP_REQUIRES_OK(context, data.status());
    OP_REQUIRES_OK(context, ids.status());
    int64_t segments = 0;
    OP_REQUIRES_OK(context, context->ConstantInputAsIntScalar(2, &segments, xla::ValueInferenceMode::kUpperBound));
    OP_REQUIRES(
        context, segments >= 0,
        absl::InvalidArgumentError(absl::StrCat(type_string(), ": num_segments must not be negative, got ", segments)));
    bool is_prefix = ids->dimensions_size() <= data->dimensions_size();
    for (int64_t i = 0; is_prefix && i < ids->dimensions_size(); ++i)
      is_prefix = ids->dimensions(i) == data->dimensions(i);
    OP_REQUIRES(context, is_prefix,
                absl::InvalidArgumentError(absl::StrCat(
                    type_string(), ": data.shape does not start with segment_ids.shape: ", data->ToString(), ", ",
                    ids->ToString())));
    bool is_dynamic = false;
    OP_REQUIRES_OK(context, context->ResolveInputDynamismIntoPred(2, &is_dynamic));
    std::vector<int64_t> sizes = {segments};
    for (int64_t i = ids->dimensions_size(); i < data->dimensions_size(); ++i) sizes.push_back(data->dimensions(i));
    xla::XlaBuilder* const builder = context->builder();
    const XlaOp first = kGreatest ? xla::MinFiniteValue(builder, data->element_type())
                                  : xla::MaxFiniteValue(builder, data->element_type());
    XlaOp start = xla::Broadcast(first, sizes);
    for (int64_t i = 1; i < static_cast<int64_t>(sizes.size()); ++i) {
      const int64_t dimension = i + ids->dimensions_size() - 1;
      if (!data->is_dynamic_dimension(dimension)) continue;
      start = xla::SetDimensionSize(start, xla::GetDimensionSize(context->Input(0), dimension), i);
    }
    if (is_dynamic) {
      start = xla::SetDimensionSize(start, xla::ConvertElementType(context->Input(2), xla::S32), 0);
    }
    if (absl::c_linear_search(sizes, 0)) {  // XLA refuses to scatter
      context->SetOutput(0, start);
      return;
    }
    const absl::StatusOr<XlaOp> result =
        tensorflow::XlaScatter(start, context->Input(0), context->Input(1), /*indices_are_vectors=*/false,
                               /*indices_are_sorted=*/false, kGreatest ? KeptGreatest : KeptSmallest, builder);
    OP_REQUIRES_OK(context, result.status());
    context->SetOutput(0, *result);
  }
};

REGISTER_XLA_OP(Name("UnsortedSegmentMax").Device(kCompilationDevice).CompileTimeConstantInput("num_segments"),
                SegmentExtremumLowering<true>)
REGISTER_XLA_OP(Name("UnsortedSegmentMin").Device(kCompilationDevice).CompileTimeConstantInput("num_segments"),
                SegmentExtremumLowering<false>)

}  // namespace
}  // namespace hpu
