// Staged: the output of HpuCollectiveStart. Holds a host copy of a reduction's input, or the event that marks the input
// ready.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_STAGED_TENSOR_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_STAGED_TENSOR_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "plugin/tensorflow/device/event_pool.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_handle.h"
#include "tensorflow/core/framework/resource_mgr.h"

namespace hpu {

// Thread safe.
class Staged : public tensorflow::ResourceBase {
 public:
  std::string DebugString() const override { return "a collective's input: a host copy or an event"; }
  // Arrived and WhenArrived are called once each.
  void Arrived(absl::Status status) {
    std::function<void(absl::Status)> waiter;
    {
      absl::MutexLock lock(&mutex_);
      status_ = std::move(status);
      waiter = std::move(waiter_);
    }
    if (waiter) waiter(*status_);
  }
  void WhenArrived(std::function<void(absl::Status)> waiter) {
    {
      absl::MutexLock lock(&mutex_);
      if (!status_.has_value()) {
        waiter_ = std::move(waiter);
        return;
      }
    }
    waiter(*status_);
  }

  tensorflow::Tensor tensor;  // complete once the copy has arrived
  EventPool::Lease ready;     // reached when the tensor is computed; replaces the copy if devices reduce directly

 private:
  absl::Mutex mutex_;
  std::optional<absl::Status> status_;  // set when the copy arrives
  std::function<void(absl::Status)> waiter_;
};

// Returns the Staged resource among a kernel's ordering tokens, or null.
inline tensorflow::core::RefCountPtr<Staged> FindStaged(tensorflow::OpKernelContext* context) {
  for (int i = 0; i < context->num_inputs(); ++i) {
    if (context->input_dtype(i) != tensorflow::DT_RESOURCE) continue;
    const auto& handle = context->input(i).scalar<tensorflow::ResourceHandle>()();
    if (!handle.IsRefCounting()) continue;
    const auto staged = handle.GetResource<Staged>();
    if (staged.ok()) return tsl::core::GetNewRef(*staged);
  }
  return nullptr;
}

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_STAGED_TENSOR_H_
