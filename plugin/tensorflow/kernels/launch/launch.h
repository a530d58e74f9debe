// Launch: execution of an executable on the device, for one kernel call.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_LAUNCH_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_LAUNCH_H_

#include "absl/status/status.h"
#include "plugin/compiler/executable.h"
#include "plugin/tensorflow/device/process_device.h"
#include "plugin/tensorflow/kernels/kernel_arguments.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {

// Queues the launch, sets the context's outputs and updates the variables. The caller holds the variables' locks. Waits
// for the device if an output or an updated variable is in host memory (int32) or has a dynamic shape. May also wait
// for the copy of arguments in host memory. Sets `queued` to false if the launch fails before it enters the queue.
// Variables and outputs are then unchanged.
//
// A variable in device memory is updated in place if the result aliases the argument and no other tensor shares the
// buffer. Otherwise the variable receives a new buffer.
absl::Status Launch(tensorflow::OpKernelContext* context, ProcessDevice& device, const Executable& executable,
                    const KernelArguments& arguments, bool* queued);

// Copies the executable's constant outputs and symbols to the device, so that all launches share the copies. Call once,
// after compilation.
absl::Status PlaceConstants(ProcessDevice& device, Executable* executable);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_LAUNCH_H_
