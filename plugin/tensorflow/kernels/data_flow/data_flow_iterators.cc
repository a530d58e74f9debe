// HPU kernels of the tf.data ops that have GPU kernels in TensorFlow. With these kernels a dataset can end on the HPU
// (prefetch_to_device), and an iterator can be placed on the HPU. By default these ops stay on the CPU, because the CPU
// kernels have a higher priority.
#include <memory>
#include <utility>

#include "plugin/base/status_macros.h"
#include "plugin/tensorflow/device/hpu_device.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/kernels/host_constant_op.h"

namespace hpu {
namespace {

using tensorflow::KernelDef;
using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;

// Creates the kernel that TensorFlow registers for GPUs, on the current device. The GPU kernel classes work on any
// device, but some of their headers are not public.
class GpuKernelFactory : public tensorflow::kernel_factory::OpKernelFactory {
 public:
  OpKernel* Create(OpKernelConstruction* construction) override {
    OpKernel* kernel = nullptr;
    const absl::Status status = Make(construction, &kernel);
    if (!status.ok()) construction->SetStatus(status);
    return kernel;
  }

 private:
  static absl::Status Make(OpKernelConstruction* construction, OpKernel** kernel) {
    std::shared_ptr<const tensorflow::NodeProperties> properties;
    HPU_RETURN_IF_ERROR(tensorflow::NodeProperties::CreateFromNodeDef(construction->def(),
                                                                      tensorflow::OpRegistry::Global(), &properties));
    auto* device = static_cast<tensorflow::DeviceBase*>(construction->device());
    return tensorflow::CreateOpKernel(tensorflow::DeviceType(tensorflow::DEVICE_GPU), device, device->GetAllocator({}),
                                      construction->function_library(), construction->resource_manager(), properties,
                                      construction->graph_def_version(), kernel);
  }
};

bool RegisterLikeGpu() {
  constexpr const char* kOps[] = {"AnonymousIterator",    "AnonymousIteratorV2",
                                  "AnonymousIteratorV3",  "DeleteIterator",
                                  "GeneratorDataset",     "IteratorFromStringHandleV2",
                                  "IteratorGetNext",      "IteratorGetNextAsOptional",
                                  "IteratorGetNextSync",  "IteratorToStringHandle",
                                  "IteratorV2",           "MakeIterator",
                                  "OptionalFromValue",    "OptionalGetValue",
                                  "OptionalHasValue",     "OptionalNone",
                                  "OptionsDataset",       "PrefetchDataset",
                                  "UnwrapDatasetVariant", "WrapDatasetVariant"};
  for (const char* op : kOps) {
    const tensorflow::KernelList kernels = tensorflow::GetRegisteredKernelsForOp(op);
    for (const KernelDef& gpu : kernels.kernel()) {
      if (gpu.device_type() != tensorflow::DEVICE_GPU) continue;
      auto kernel = std::make_unique<KernelDef>(gpu);
      kernel->set_device_type(kDeviceType);
      tensorflow::kernel_factory::OpKernelRegistrar(kernel.release(), "HpuDataKernel",
                                                    std::make_unique<GpuKernelFactory>());
    }
  }
  return true;
}

// prefetch_to_device creates string constants (device names) on the current device. As for the ops above, the CPU
// kernel has a higher priority.
REGISTER_KERNEL_BUILDER(
    Name("Const").Device(kDeviceType).HostMemory("output").TypeConstraint<tensorflow::tstring>("dtype").Priority(-1),
    tensorflow::_HostConstantOp);

[[maybe_unused]] const bool iterators_registered = RegisterLikeGpu();

}  // namespace
}  // namespace hpu
