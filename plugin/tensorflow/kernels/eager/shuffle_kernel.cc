// RandomShuffle and HabanaRandomOrder kernels: the host draws the order, and the device gathers the rows.
#include <cstdint>
#include <numeric>
#include <utility>

#include "plugin/base/status_macros.h"
#include "plugin/tensorflow/device/hpu_device.h"
#include "plugin/tensorflow/kernels/eager/eager_kernel.h"
#include "plugin/tensorflow/kernels/eager/random_order.h"
#include "plugin/tensorflow/kernels/launch/row_gather.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor_util.h"

namespace hpu {
namespace {

using tensorflow::Tensor;

class ShuffleKernel : public tensorflow::OpKernel {
 public:
  explicit ShuffleKernel(tensorflow::OpKernelConstruction* construction)
      : OpKernel(construction), gather_(construction, construction->input_type(0)) {
    OP_REQUIRES_OK(construction, order_.Initialize(construction));
  }
  bool IsExpensive() override { return true; }

  void Compute(tensorflow::OpKernelContext* context) override { OP_REQUIRES_OK(context, Shuffle(context)); }

 private:
  absl::Status Shuffle(tensorflow::OpKernelContext* context) {
    const Tensor& rows = context->input(0);
    if (RandomOrder::IsTrivial(rows.shape())) {
      context->set_output(0, rows);
      return absl::OkStatus();
    }
    HPU_RETURN_IF_ERROR(RowGather::CheckRowCount(type_string(), rows.dim_size(0)));
    Tensor order(tensorflow::DT_INT32, {rows.dim_size(0)});
    order_.Draw(&order);
    HPU_ASSIGN_OR_RETURN(Tensor shuffled, gather_.Run(context, rows, order));
    context->set_output(0, std::move(shuffled));
    return absl::OkStatus();
  }

  const RowGather gather_;
  RandomOrder order_;
};

class RandomOrderKernel : public tensorflow::OpKernel {
 public:
  explicit RandomOrderKernel(tensorflow::OpKernelConstruction* construction) : OpKernel(construction) {
    OP_REQUIRES_OK(construction, order_.Initialize(construction));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    tensorflow::TensorShape shape;
    OP_REQUIRES_OK(context, tensorflow::tensor::MakeShape(context->input(0), &shape));
    OP_REQUIRES(
        context, shape.dims() > 0,
        absl::InvalidArgumentError(type_string() + ": the shape must have at least one dimension, got a scalar"));
    const int64_t rows = shape.dim_size(0);
    OP_REQUIRES_OK(context, RowGather::CheckRowCount(type_string(), rows));
    Tensor* order = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, tensorflow::TensorShape({rows}), &order));
    if (RandomOrder::IsTrivial(shape)) {
      std::iota(order->vec<int32_t>().data(), order->vec<int32_t>().data() + rows, 0);
    } else {
      order_.Draw(order);
    }
  }

 private:
  RandomOrder order_;
};

REGISTER_KERNEL_BUILDER(Name("HabanaRandomOrder").Device(kDeviceType).HostMemory("shape").HostMemory("order"),
                        RandomOrderKernel);
REGISTER_KERNEL_BUILDER(Name("HabanaRandomOrder").Device(tensorflow::DEVICE_CPU), RandomOrderKernel);
REGISTER_KERNEL_BUILDER(Name("RandomShuffle").Device(kDeviceType).TypeConstraint("T", RowGather::Types()),
                        ShuffleKernel);
// int32 data are in host memory, so the CPU kernel shuffles int32 data.
REGISTER_KERNEL_BUILDER(Name("RandomShuffle")
                            .Device(kDeviceType)
                            .TypeConstraint<tensorflow::int32>("T")
                            .HostMemory("value")
                            .HostMemory("output"),
                        EagerKernel);

}  // namespace
}  // namespace hpu
