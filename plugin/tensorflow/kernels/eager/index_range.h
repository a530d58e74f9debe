// Range check of an eager op's indices before its launch.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_INDEX_RANGE_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_INDEX_RANGE_H_

#include "absl/status/statusor.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/tensorflow/device/process_device.h"
#include "plugin/tensorflow/kernels/kernel_arguments.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {

// Whether all indices are in range and, for a permutation, distinct. Copies the indices to the host if necessary, and
// waits for the copy. Also false for shapes that do not match, so that the CPU kernel reports the error. The caller
// holds the locks of the op's variables.
absl::StatusOr<bool> IndicesInRange(tensorflow::OpKernelContext* context, ProcessDevice& device, const IndexedOp& op,
                                    const KernelArguments& arguments);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_INDEX_RANGE_H_
