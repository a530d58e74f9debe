// Lowerings of Copy, CopyHost and DebugGradientIdentity as the identity. TensorFlow's debugger inserts these ops into
// graphs.
#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"

namespace hpu {
namespace {

class CopyLowering : public tensorflow::XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;
  void Compile(tensorflow::XlaOpKernelContext* context) override { context->SetOutput(0, context->Input(0)); }
};

REGISTER_XLA_OP(Name("Copy").Device(kCompilationDevice), CopyLowering)
REGISTER_XLA_OP(Name("CopyHost").Device(kCompilationDevice), CopyLowering)
REGISTER_XLA_OP(Name("DebugGradientIdentity").Device(kCompilationDevice), CopyLowering)

}  // namespace
}  // namespace hpu
