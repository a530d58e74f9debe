// Resolution of a broadcast's source rank, which TensorFlow's receivers do not know.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_BROADCAST_SOURCE_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_BROADCAST_SOURCE_H_

#include <functional>

#include "absl/status/statusor.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor_shape.h"

namespace hpu {

// The shape that the receiving op in `context` specifies.
absl::StatusOr<tensorflow::TensorShape> ReceivedShape(tensorflow::OpKernelContext* context);

// Asks TensorFlow's resolver of collective parameters for the sending rank, in TensorFlow's rank order. The resolver
// waits for all ranks, at most `timeout_s` seconds (0: no limit), and checks that they agree on type and shape. `found`
// may run on another thread.
void FindBroadcastSource(tensorflow::OpKernelContext* context, const tensorflow::TensorShape& shape, bool sends,
                         float timeout_s, std::function<void(absl::StatusOr<int>)> found);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_BROADCAST_SOURCE_H_
