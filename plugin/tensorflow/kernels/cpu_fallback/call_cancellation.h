// CallCancellation: cancellation of a function that a kernel calls.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_CALL_CANCELLATION_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_CALL_CANCELLATION_H_

#include <optional>

#include "tensorflow/core/framework/op_kernel.h"
#include "xla/tsl/framework/cancellation.h"

namespace hpu {

// A child of the step's cancellation manager: cancelled with the step, but cannot cancel the step. A function's
// executor cancels its cancellation manager when an op fails. With the step's manager, the step's executors would
// report "cancelled" before the kernel returns the op's error.
class CallCancellation {
 public:
  explicit CallCancellation(tensorflow::OpKernelContext* context) {
    if (context->cancellation_manager() != nullptr) manager_.emplace(context->cancellation_manager());
  }

  // Null if the step cannot be cancelled.
  tensorflow::CancellationManager* get() { return manager_.has_value() ? &*manager_ : nullptr; }

 private:
  std::optional<tensorflow::CancellationManager> manager_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_CALL_CANCELLATION_H_
