// Lowering of Bucketize that puts NaN into the last bucket, like the CPU kernel. tf2xla's lowering uses the first
// bucket.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/lowerings/search_counts.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::XlaOpKernel;
using tensorflow::XlaOpKernelContext;
using xla::XlaOp;

// An element's bucket is the number of boundaries b for which element < b is false; for NaN, the number of all
// boundaries. Integers are compared as float32, as on the CPU.
class BucketizeLowering : public XlaOpKernel {
 public:
  explicit BucketizeLowering(OpKernelConstruction* construction) : XlaOpKernel(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("boundaries", &boundaries_));
    // TensorFlow's own text, with the op and the values.
    OP_REQUIRES(construction, std::is_sorted(boundaries_.begin(), boundaries_.end()),
                absl::InvalidArgumentError(absl::StrCat(type_string(), ": Expected sorted boundaries, got [",
                                                        absl::StrJoin(boundaries_, ","), "]")));
  }

  void Compile(XlaOpKernelContext* context) override {
    const xla::PrimitiveType type = context->input_xla_type(0) == xla::F64 ? xla::F64 : xla::F32;
    xla::XlaBuilder* builder = context->builder();
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(0);
    OP_REQUIRES_OK(context, shape.status());
    const int64_t elements = xla::ShapeUtil::ElementsIn(*shape), count = static_cast<int64_t>(boundaries_.size());
    const XlaOp input = xla::Reshape(xla::ConvertElementType(context->Input(0), type), {1, elements});
    const XlaOp boundaries = xla::ConvertElementType(xla::ConstantR1<float>(builder, boundaries_), type);
    const XlaOp reached = CountUpTo(xla::Reshape(boundaries, {1, count}), input, count, 1, elements);
    const XlaOp bucket = xla::Select(xla::Ne(input, input), xla::FullLike(reached, count), reached);
    context->SetOutput(0, xla::Reshape(bucket, shape->dimensions()));
  }

 private:
  std::vector<float> boundaries_;
};

REGISTER_XLA_OP(Name("Bucketize").Device(kCompilationDevice), BucketizeLowering)

}  // namespace
}  // namespace hpu
