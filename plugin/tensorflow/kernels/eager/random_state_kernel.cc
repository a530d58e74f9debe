// HabanaPhiloxState: the state of a stateful random op, kept on the host.
#include <cstdint>

#include "plugin/tensorflow/device/hpu_device.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor_util.h"
#include "tensorflow/core/lib/random/philox_random.h"
#include "tensorflow/core/util/guarded_philox_random.h"

namespace hpu {
namespace {

using tensorflow::Tensor;

// 128-bit samples that the CPU kernels reserve for each number, used or not (TensorFlow's random_op.cc).
constexpr int kReservedPerNumber = 256;

uint64_t Join(uint32_t low, uint32_t high) { return uint64_t{high} << 32 | low; }

// The kernel owns the generator's state, as in TensorFlow's own stateful random ops. Each execution of a node continues
// the sequence, and equal nonzero seeds produce equal sequences. Thread safe.
class PhiloxStateKernel : public tensorflow::OpKernel {
 public:
  explicit PhiloxStateKernel(tensorflow::OpKernelConstruction* construction) : OpKernel(construction) {
    OP_REQUIRES_OK(construction, generator_.Init(construction));
    OP_REQUIRES_OK(construction, construction->GetAttr("numbers_of_row", &numbers_of_row_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    tensorflow::TensorShape shape;
    OP_REQUIRES_OK(context, tensorflow::tensor::MakeShape(context->input(0), &shape));
    OP_REQUIRES(context, numbers_of_row_ == 0 || shape.dims() > 0,
                absl::InvalidArgumentError(
                    type_string() + ": numbers_of_row requires a shape with at least one dimension, got a scalar"));
    const int64_t numbers = numbers_of_row_ == 0 ? shape.num_elements() : shape.dim_size(0) * numbers_of_row_;
    const tensorflow::random::PhiloxRandom state = generator_.ReserveRandomOutputs(numbers, kReservedPerNumber);
    Tensor* key = nullptr;
    Tensor* counter = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, tensorflow::TensorShape({1}), &key));
    OP_REQUIRES_OK(context, context->allocate_output(1, tensorflow::TensorShape({2}), &counter));
    key->flat<tensorflow::uint64>()(0) = Join(state.key()[0], state.key()[1]);
    counter->flat<tensorflow::uint64>()(0) = Join(state.counter()[0], state.counter()[1]);
    counter->flat<tensorflow::uint64>()(1) = Join(state.counter()[2], state.counter()[3]);
  }

 private:
  tensorflow::GuardedPhiloxRandom generator_;
  int64_t numbers_of_row_ = 0;
};

REGISTER_KERNEL_BUILDER(
    Name("HabanaPhiloxState").Device(kDeviceType).HostMemory("shape").HostMemory("key").HostMemory("counter"),
    PhiloxStateKernel);
REGISTER_KERNEL_BUILDER(Name("HabanaPhiloxState").Device(tensorflow::DEVICE_CPU), PhiloxStateKernel);

}  // namespace
}  // namespace hpu
