// Lowering of XlaCallModule (jax2tf). TensorFlow's lowering derives a module's platform from the device's name, and
// supports only XLA's own devices.
#include <memory>

#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/node_properties.h"
#include "tensorflow/core/framework/op.h"

namespace hpu {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;

// Calls TensorFlow's lowering for XLA:CPU, because the emulator computes on the CPU.
class CallModuleLowering : public tensorflow::XlaOpKernel {
 public:
  explicit CallModuleLowering(OpKernelConstruction* construction) : XlaOpKernel(construction) {
    std::shared_ptr<const tensorflow::NodeProperties> properties;
    OP_REQUIRES_OK(construction, tensorflow::NodeProperties::CreateFromNodeDef(
                                     construction->def(), tensorflow::OpRegistry::Global(), &properties));
    OpKernel* lowering = nullptr;
    OP_REQUIRES_OK(construction,
                   tensorflow::CreateOpKernel(tensorflow::DeviceType(tensorflow::DEVICE_CPU_XLA_JIT),
                                              construction->device(), construction->device()->GetAllocator({}),
                                              construction->function_library(), construction->resource_manager(),
                                              properties, construction->graph_def_version(), &lowering));
    lowering_.reset(lowering);
  }

  void Compile(tensorflow::XlaOpKernelContext* context) override { lowering_->Compute(context->op_kernel_context()); }

 private:
  std::unique_ptr<OpKernel> lowering_;
};

REGISTER_XLA_OP(Name("XlaCallModule").Device(kCompilationDevice), CallModuleLowering);

}  // namespace
}  // namespace hpu
