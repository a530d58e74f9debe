// Horovod's broadcast into variables. All its other ops are placed on the CPU (plugin/passes/placement_policy.h); this
// one stays where its variables are, and runs there by Horovod's own kernel for the CPU, on copies that are written
// back. Horovod may be imported later than the plugin.
#include "plugin/device/hpu_device.h"
#include "plugin/kernels/eager_kernel.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {
namespace {

REGISTER_KERNEL_BUILDER(Name("HorovodBroadcastInplaceResource").Device(kDeviceType).HostMemory("resources"),
                        EagerKernel);

}  // namespace
}  // namespace hpu
