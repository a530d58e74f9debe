// Whether the indices of an eager op are in range, seen before it is launched.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_INDEX_RANGE_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_INDEX_RANGE_H_

#include "absl/status/statusor.h"
#include "plugin/passes/analysis/op_rules.h"
#include "plugin/tensorflow/device/process_device.h"
#include "plugin/tensorflow/kernels/kernel_arguments.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {

// Copies the indices to the host if they are not there, and waits for them. False also for shapes that do not fit
// together: the CPU's kernel says why. The caller holds the locks of the op's variables.
absl::StatusOr<bool> IndicesInRange(tensorflow::OpKernelContext* context, ProcessDevice& device,
                                    const passes::IndexedOp& op, const KernelArguments& arguments);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_INDEX_RANGE_H_
