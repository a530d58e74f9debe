// QueueIsClosedV2 on the HPU. TensorFlow's default kernel writes its result to device memory on the host.
#include "plugin/tensorflow/device/hpu_device.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/kernels/queue_op.h"

namespace hpu {
namespace {

REGISTER_KERNEL_BUILDER(Name("QueueIsClosedV2").Device(kDeviceType).HostMemory("handle").HostMemory("is_closed"),
                        tensorflow::QueueIsClosedOp);

}  // namespace
}  // namespace hpu
