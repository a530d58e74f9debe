// Lowering of XlaCallModule (jax2tf). TensorFlow's lowering derives a module's platform from the device's name, and
// supports only XLA's own devices.
#include <memory>

#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/make_lowering.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/op.h"

namespace hpu {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;

// Calls TensorFlow's lowering for XLA:CPU, because the emulator computes on the CPU.
class CallModuleLowering : public tensorflow::XlaOpKernel {
 public:
  explicit CallModuleLowering(OpKernelConstruction* construction) : XlaOpKernel(construction) {
    absl::StatusOr<std::unique_ptr<OpKernel>> lowering = MakeLowering(construction, tensorflow::DEVICE_CPU_XLA_JIT);
    OP_REQUIRES_OK(construction, lowering.status());
    lowering_ = *std::move(lowering);
  }

  void Compile(tensorflow::XlaOpKernelContext* context) override { lowering_->Compute(context->op_kernel_context()); }

 private:
  std::unique_ptr<OpKernel> lowering_;
};

REGISTER_XLA_OP(Name("XlaCallModule").Device(kCompilationDevice), CallModuleLowering);

}  // namespace
}  // namespace hpu
