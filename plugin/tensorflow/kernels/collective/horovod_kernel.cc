#include "plugin/tensorflow/kernels/collective/horovod_kernel.h"

#include <memory>

#include "plugin/tensorflow/device/hpu_device.h"
#include "plugin/tensorflow/kernels/compile_policy.h"
#include "plugin/tensorflow/kernels/eager/eager_kernel.h"
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

void RegisterHorovodKernel() {
  if (tensorflow::OpRegistry::Global()->LookUp(kOp) == nullptr) return;
  RequireEqualChoices();
  [[maybe_unused]] static auto* registrar = new tensorflow::kernel_factory::OpKernelRegistrar(
      tensorflow::KernelDefBuilder(kOp).Device(kDeviceType).HostMemory("resources").Build(), "HpuHorovodKernel",
      std::make_unique<HorovodKernelFactory>());
}

}  // namespace hpu
