// Launch: runs an executable on the device for one kernel execution.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_LAUNCH_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_LAUNCH_H_

#include "absl/status/status.h"
#include "plugin/compiler/executable.h"
#include "plugin/tensorflow/device/process_device.h"
#include "plugin/tensorflow/kernels/kernel_arguments.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {

// Queues the launch, sets the context's outputs and updates the variables. The caller holds the variables' locks.
// Returns before the device has finished, unless an output or a variable is in host memory (int32) or has a dynamic
// shape. Sets `queued` to whether work was queued on the device. If not, a failure leaves variables and outputs
// unchanged.
//
// A variable is updated in place if its buffer is not shared; otherwise it gets a new buffer.
absl::Status Launch(tensorflow::OpKernelContext* context, ProcessDevice& device, const Executable& executable,
                    const KernelArguments& arguments, bool* queued);

// Copies the executable's constant outputs to the device, so that launches share them. Call once, after compilation.
absl::Status PlaceConstants(ProcessDevice& device, Executable* executable);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_LAUNCH_H_
