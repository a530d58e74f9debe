// QueueIsClosedV2 on the HPU. TensorFlow's DEVICE_DEFAULT kernel would write its result to device memory from the host.
#include "plugin/tensorflow/device/hpu_device.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/kernels/queue_op.h"

namespace hpu {
namespace {

REGISTER_KERNEL_BUILDER(Name("QueueIsClosedV2").Device(kDeviceType).HostMemory("handle").HostMemory("is_closed"),
                        tensorflow::QueueIsClosedOp);

}  // namespace
}  // namespace hpu
