// CallerThreads: threads for the closures of one function call, among them the thread that waits for the call.
#ifndef HPU_PLUGIN_BASE_THREADS_CALLER_THREADS_H_
#define HPU_PLUGIN_BASE_THREADS_CALLER_THREADS_H_

#include <functional>
#include <memory>

namespace hpu {

// The waiting thread runs closures as long as there are any, so a call whose ops follow each other wakes no other
// thread, and a call ends even if all threads of the pool wait for calls. Thread safe, except Wait.
class CallerThreads {
 public:
  using Closure = std::function<void()>;
  using Runner = std::function<void(Closure)>;

  // `pool` runs closures on threads that help. It may also run them at once, on the thread that calls it.
  explicit CallerThreads(Runner pool);

  // Runs a closure on one of the threads. The pointer is valid for the lifetime of this object. Copies remain valid.
  Runner* runner() { return &runner_; }
  // Returns a function that ends Wait. It may be called on any thread, also after this object's lifetime.
  Closure ending();
  // Runs closures until ending() was called. Called once.
  void Wait();

 private:
  class Queue;

  const std::shared_ptr<Queue> queue_;  // shared with the pool's threads, which may look for work after the call
  Runner runner_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_BASE_THREADS_CALLER_THREADS_H_
