// Lowering of Bucketize that puts NaN into the last bucket, like the CPU kernel. tf2xla's lowering uses the first
// bucket.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"
#include "xla/client/xla_builder.h"

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
    const XlaOp input = xla::ConvertElementType(context->Input(0), type);
    const XlaOp boundaries = xla::ConvertElementType(xla::ConstantR1<float>(builder, boundaries_), type);
    const XlaOp rows = xla::Broadcast(input, {static_cast<int64_t>(boundaries_.size())});
    const XlaOp reached = xla::Not(xla::Lt(rows, boundaries, /*broadcast_dimensions=*/{0}));
    context->SetOutput(0, xla::Reduce(xla::ConvertElementType(reached, xla::S32), xla::Zero(builder, xla::S32),
                                      xla::CreateScalarAddComputation(xla::S32, builder), {0}));
  }

 private:
  std::vector<float> boundaries_;
};

REGISTER_XLA_OP(Name("Bucketize").Device(kCompilationDevice), BucketizeLowering)

}  // namespace
}  // namespace hpu
