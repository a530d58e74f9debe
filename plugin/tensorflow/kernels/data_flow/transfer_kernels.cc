// _Send and _Recv on the HPU: TensorFlow's kernels, extended to count the host-device transfers of recorded graphs.
#include <utility>

#include "plugin/tensorflow/device/hpu_device.h"
#include "plugin/tensorflow/kernels/op_counters.h"
#include "tensorflow/core/kernels/sendrecv_ops.h"

namespace hpu {
namespace {

// Counts the tensors that one node sends or receives.
struct Transfer {
  explicit Transfer(const tensorflow::NodeDef& node)
      : record(RecordOf(node)), key(record > 0 ? node.attr().at("tensor_name").s() : "") {}

  void Count(const tensorflow::Tensor& tensor) const {
    OpCounters::Get().AddCopy(record, key, static_cast<int64_t>(tensor.TotalBytes()));
  }

  int64_t record;  // 0: not counted
  std::string key;
};

class SendKernel : public tensorflow::SendOp {
 public:
  explicit SendKernel(tensorflow::OpKernelConstruction* construction)
      : SendOp(construction), transfer_(construction->def()) {}

  void Compute(tensorflow::OpKernelContext* context) override {
    if (transfer_.record > 0 && !context->is_input_dead()) transfer_.Count(context->input(0));
    SendOp::Compute(context);
  }

 private:
  const Transfer transfer_;
};

class ReceiveKernel : public tensorflow::RecvOp {
 public:
  explicit ReceiveKernel(tensorflow::OpKernelConstruction* construction)
      : RecvOp(construction), transfer_(construction->def()) {}

  void ComputeAsync(tensorflow::OpKernelContext* context, DoneCallback done) override {
    if (transfer_.record == 0) return RecvOp::ComputeAsync(context, std::move(done));
    RecvOp::ComputeAsync(context, [this, context, done = std::move(done)] {
      // Null if the sent tensor is dead.
      if (const tensorflow::Tensor* tensor = context->mutable_output(0)) transfer_.Count(*tensor);
      done();
    });
  }

 private:
  const Transfer transfer_;
};

REGISTER_KERNEL_BUILDER(Name("_Send").Device(kDeviceType), SendKernel);
REGISTER_KERNEL_BUILDER(Name("_Recv").Device(kDeviceType), ReceiveKernel);

}  // namespace
}  // namespace hpu
