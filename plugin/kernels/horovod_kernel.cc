// Horovod's broadcast into variables. All its other ops are placed on the CPU (plugin/passes/placement_policy.h); this
// one stays where its variables are, and runs there by Horovod's own kernel for the CPU, on copies that are written
// back.
#include <memory>

#include "plugin/c_api.h"
#include "plugin/device/hpu_device.h"
#include "plugin/kernels/eager_kernel.h"
#include "tensorflow/core/framework/kernel_def_builder.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {
namespace {

constexpr char kOp[] = "HorovodBroadcastInplaceResource";

class HorovodKernelFactory : public tensorflow::kernel_factory::OpKernelFactory {
 public:
  tensorflow::OpKernel* Create(tensorflow::OpKernelConstruction* construction) override {
    return new EagerKernel(construction);
  }
};

}  // namespace
}  // namespace hpu

// TensorFlow logs an error for each kernel without an op, whenever it loads a library: so not before Horovod's is
// there.
void hpu_horovod_loaded(void) {
  if (tensorflow::OpRegistry::Global()->LookUp(hpu::kOp) == nullptr) return;
  [[maybe_unused]] static auto* registrar = new tensorflow::kernel_factory::OpKernelRegistrar(
      tensorflow::KernelDefBuilder(hpu::kOp).Device(hpu::kDeviceType).HostMemory("resources").Build(),
      "HpuHorovodKernel", std::make_unique<hpu::HorovodKernelFactory>());
}
