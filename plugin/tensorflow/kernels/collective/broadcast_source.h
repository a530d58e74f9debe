// Broadcast source: resolution of the source rank, which TensorFlow passes to the sender only.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_BROADCAST_SOURCE_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_BROADCAST_SOURCE_H_

#include <functional>

#include "absl/status/statusor.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor_shape.h"

namespace hpu {

// The shape that the receiving op in `context` expects, from its input or attribute `shape`.
absl::StatusOr<tensorflow::TensorShape> ReceivedShape(tensorflow::OpKernelContext* context);

// Passes the source rank, in TensorFlow's rank order, to `found`, which may run on another thread. TensorFlow's
// collective parameter resolver waits for all ranks, at most `timeout_s` seconds (0: no limit). The resolver checks
// that all ranks pass the same type and shape.
void FindBroadcastSource(tensorflow::OpKernelContext* context, const tensorflow::TensorShape& shape, bool sends,
                         float timeout_s, std::function<void(absl::StatusOr<int>)> found);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_BROADCAST_SOURCE_H_
