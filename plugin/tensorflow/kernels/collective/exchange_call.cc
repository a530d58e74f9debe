#include "plugin/tensorflow/kernels/collective/exchange_call.h"

#include <utility>

#include "absl/synchronization/mutex.h"

namespace hpu {

using tensorflow::CancellationManager;

ExchangeCall::ExchangeCall(tensorflow::OpKernelContext* outer, std::shared_ptr<tensorflow::AsyncOpKernel> kernel,
                           tensorflow::Device* cpu, std::function<void(std::function<void()>)>* runner,
                           std::vector<tensorflow::Tensor> inputs)
    : kernel_(std::move(kernel)),
      cancellation_(std::make_shared<CancellationManager>()),
      step_(outer->cancellation_manager()),
      call_(outer, cancellation_.get(), kernel_.get(), cpu, runner, std::move(inputs)) {
  if (step_ == nullptr) return;
  token_ = step_->get_cancellation_token();
  if (step_->RegisterCallback(token_, [own = cancellation_] { own->StartCancel(); })) return;
  step_ = nullptr;
  cancellation_->StartCancel();
}

void ExchangeCall::Detach() {
  // TryDeregisterCallback does not wait for a running callback. A wait could deadlock, because the callback may have
  // ended the kernel and thereby called this function.
  if (step_ != nullptr) step_->TryDeregisterCallback(token_);
  step_ = nullptr;
}

void ExchangeCall::Keep(std::unique_ptr<ExchangeCall> call) {
  static auto* mutex = new absl::Mutex;
  static auto* kept = new std::vector<std::unique_ptr<ExchangeCall>>;
  call->Detach();
  absl::MutexLock lock(mutex);
  kept->push_back(std::move(call));
}

}  // namespace hpu
