// Completion: callback for a completed gRPC operation.
#ifndef HPU_PLUGIN_RPC_COMPLETION_H_
#define HPU_PLUGIN_RPC_COMPLETION_H_

#include <grpcpp/completion_queue.h>

namespace hpu::rpc {

// The tag of an operation on a completion queue.
class Completion {
 public:
  virtual ~Completion() = default;
  // Runs on the thread of RunCompletions.
  virtual void Done(bool ok) = 0;
};

// Completion that calls a method of the owner.
template <typename Owner, void (Owner::*kMethod)(bool)>
class MethodCompletion final : public Completion {
 public:
  explicit MethodCompletion(Owner* owner) : owner_(owner) {}
  void Done(bool ok) override { (owner_->*kMethod)(ok); }

 private:
  Owner* const owner_;
};

// Runs completions until the queue has been shut down and is empty.
inline void RunCompletions(grpc::CompletionQueue* queue) {
  void* tag = nullptr;
  bool ok = false;
  while (queue->Next(&tag, &ok)) static_cast<Completion*>(tag)->Done(ok);
}

}  // namespace hpu::rpc

#endif  // HPU_PLUGIN_RPC_COMPLETION_H_
