// ExchangeCall: the call of a CPU kernel that exchanges data with other workers.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_EXCHANGE_CALL_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_EXCHANGE_CALL_H_

#include <functional>
#include <memory>
#include <vector>

#include "plugin/tensorflow/kernels/cpu_fallback/host_call.h"

namespace hpu {

// TensorFlow gives a collective up when its time is over, while its transport still works on the kernel's context. So
// this holds all that the transport needs, and Keep() keeps it. Used by one thread at a time.
class ExchangeCall {
 public:
  // `outer` lives until the kernel has called back, `cpu` and `runner` for good.
  ExchangeCall(tensorflow::OpKernelContext* outer, std::shared_ptr<tensorflow::AsyncOpKernel> kernel,
               tensorflow::Device* cpu, std::function<void(std::function<void()>)>* runner,
               std::vector<tensorflow::Tensor> inputs);
  ~ExchangeCall() { Detach(); }
  ExchangeCall(const ExchangeCall&) = delete;
  ExchangeCall& operator=(const ExchangeCall&) = delete;

  // Runs the kernel, cancelled with the step of `outer`. `done` runs on any thread; the outputs or the kernel's error
  // are there then.
  void Start(std::function<void()> done) { kernel_->ComputeAsync(call_.context(), std::move(done)); }
  absl::Status TakeOutputs(std::vector<tensorflow::Tensor>* outputs) { return call_.TakeOutputs(outputs); }

  // Keeps a call for good whose kernel has called back with an error.
  static void Keep(std::unique_ptr<ExchangeCall> call);

 private:
  // Ends what ties the call to the step.
  void Detach();

  const std::shared_ptr<tensorflow::AsyncOpKernel> kernel_;
  // Not the step's, which may end before the transport does. The step's callback shares it.
  const std::shared_ptr<tensorflow::CancellationManager> cancellation_;
  tensorflow::CancellationManager* step_;  // null if there is none, or no more
  tensorflow::CancellationToken token_ = tensorflow::CancellationManager::kInvalidToken;
  HostCall call_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_EXCHANGE_CALL_H_
