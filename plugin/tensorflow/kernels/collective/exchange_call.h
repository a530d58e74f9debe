// ExchangeCall: one call of a CPU kernel that exchanges data with other workers.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_EXCHANGE_CALL_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_EXCHANGE_CALL_H_

#include <functional>
#include <memory>
#include <vector>

#include "plugin/tensorflow/kernels/cpu_fallback/host_call.h"

namespace hpu {

// After a timeout, TensorFlow abandons a collective while the transport still uses the kernel's context. This object
// therefore owns all data that the transport needs, and Keep() keeps the object alive. Used by one thread at a time.
class ExchangeCall {
 public:
  // `outer` must live until the kernel has called back. `cpu` and `runner` must live as long as the process.
  ExchangeCall(tensorflow::OpKernelContext* outer, std::shared_ptr<tensorflow::AsyncOpKernel> kernel,
               tensorflow::Device* cpu, std::function<void(std::function<void()>)>* runner,
               std::vector<tensorflow::Tensor> inputs);
  ~ExchangeCall() { Detach(); }
  ExchangeCall(const ExchangeCall&) = delete;
  ExchangeCall& operator=(const ExchangeCall&) = delete;

  // Runs the kernel. Cancelling the step of `outer` cancels the kernel. `done` runs on any thread, when the outputs or
  // the kernel's error are available.
  void Start(std::function<void()> done) { kernel_->ComputeAsync(call_.context(), std::move(done)); }
  absl::Status TakeOutputs(std::vector<tensorflow::Tensor>* outputs) { return call_.TakeOutputs(outputs); }

  // Keeps a call alive for the rest of the process, after its kernel has called back with an error.
  static void Keep(std::unique_ptr<ExchangeCall> call);

 private:
  // Deregisters the call from the step's cancellation.
  void Detach();

  const std::shared_ptr<tensorflow::AsyncOpKernel> kernel_;
  // Separate from the step's manager, which may be destroyed before the transport ends. The callback registered with
  // the step shares ownership.
  const std::shared_ptr<tensorflow::CancellationManager> cancellation_;
  tensorflow::CancellationManager* step_;  // null if the step has no manager, or after Detach()
  tensorflow::CancellationToken token_ = tensorflow::CancellationManager::kInvalidToken;
  HostCall call_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_EXCHANGE_CALL_H_
