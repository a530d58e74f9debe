// Data-flow kernels that replace TensorFlow's default kernels, because the default kernels access device memory on the
// host.
#include <algorithm>
#include <utility>

#include "plugin/base/status_macros.h"
#include "plugin/tensorflow/device/hpu_device.h"
#include "plugin/tensorflow/kernels/data_flow_memory.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/partial_tensor_shape.h"

namespace hpu {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

// Op that TensorFlow's debugger inserts on watched edges. Copies the value immediately, because an aliased variable may
// be updated in place while the debugger reads the value.
class Copy : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    if (!LivesOnDevice(input.dtype()) || input.TotalBytes() == 0) {
      context->set_output(0, input);
      return;
    }
    OP_REQUIRES_OK(context, CopyToOutput(context, input));
  }
  bool IsExpensive() override { return false; }

 private:
  static absl::Status CopyToOutput(OpKernelContext* context, const Tensor& input) {
    HPU_ASSIGN_OR_RETURN(const ElementMemory memory, ElementMemory::Create(context, input.dtype()));
    Tensor* output = nullptr;
    HPU_RETURN_IF_ERROR(context->allocate_output(0, input.shape(), &output));
    return memory.Copy(input, 0, output, 0, input.NumElements());
  }
};

// FakeParam: a placeholder for a value of the branch that is not taken. TensorFlow's kernel constructs the elements in
// device memory, which crashes for strings and variants.
class HostFakeParam : public tensorflow::OpKernel {
 public:
  explicit HostFakeParam(OpKernelConstruction* construction) : OpKernel(construction) {
    tensorflow::DataType dtype;
    OP_REQUIRES_OK(construction, construction->GetAttr("dtype", &dtype));
    tensorflow::PartialTensorShape partial;
    OP_REQUIRES_OK(construction, construction->GetAttr("shape", &partial));
    tensorflow::TensorShape shape;
    for (int i = 0; !partial.unknown_rank() && i < partial.dims(); ++i) {
      OP_REQUIRES_OK(construction, shape.AddDimWithStatus(std::max<int64_t>(partial.dim_size(i), 0)));
    }
    value_ = Tensor(tensorflow::cpu_allocator(), dtype, shape);
    if (dtype == tensorflow::DT_INT32) value_.flat<int32_t>().setZero();
  }
  void Compute(OpKernelContext* context) override { context->set_output(0, value_); }
  bool IsExpensive() override { return false; }

 private:
  Tensor value_;
};

REGISTER_KERNEL_BUILDER(Name("Copy").Device(kDeviceType), Copy);
REGISTER_KERNEL_BUILDER(Name("FakeParam")
                            .Device(kDeviceType)
                            .HostMemory("output")
                            .TypeConstraint("dtype",
                                            {tensorflow::DT_INT32, tensorflow::DT_STRING, tensorflow::DT_RESOURCE}),
                        HostFakeParam);
// The output counts as device memory, so that an empty variant is never copied.
REGISTER_KERNEL_BUILDER(Name("FakeParam").Device(kDeviceType).TypeConstraint("dtype", tensorflow::DT_VARIANT),
                        HostFakeParam);

}  // namespace
}  // namespace hpu
