// WriteQueue: unsent messages of a call. gRPC sends one message at a time, and each message costs tens of microseconds,
// so small joinable messages are concatenated.
#ifndef HPU_PLUGIN_RPC_WRITE_QUEUE_H_
#define HPU_PLUGIN_RPC_WRITE_QUEUE_H_

#include <grpcpp/support/byte_buffer.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "plugin/rpc/message.h"

namespace hpu::rpc {

// `send` starts sending a message. The owner calls Sent() when the message has been sent. `send` runs under the queue's
// lock. Thread safe.
class WriteQueue {
 public:
  using Send = std::function<void(const grpc::ByteBuffer&)>;
  explicit WriteQueue(Send send) : send_(std::move(send)) {}

  // Starts sending. `at_end` runs after the last message if End() was called.
  void Open(std::function<void()> at_end) {
    std::lock_guard<std::mutex> lock(mutex_);
    at_end_ = std::move(at_end);
    open_ = true;
    Next();
  }
  // Returns false after Close(), End() or a failed send.
  bool Push(const void* data, size_t size) { return Add(data, size, /*joinable=*/false); }
  // Like Push, but the message may be concatenated with other queued joinable messages.
  bool PushJoinable(const void* data, size_t size) { return Add(data, size, /*joinable=*/true); }
  void Sent(bool ok) {
    std::lock_guard<std::mutex> lock(mutex_);
    waiting_bytes_ -= sending_bytes_;
    sending_ = false;
    if (ok) {
      Next();
    } else {
      closed_ = true;
    }
    changed_.notify_all();
  }
  // Declares that no further message will be pushed.
  void End() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (ended_) return;
    ended_ = true;
    Next();
  }
  // Stops sending and wakes all waiters. The owner still calls Sent() for a message that is being sent.
  void Close() {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  // Returns false if the queue is closed.
  bool WaitUntilAtMost(size_t bytes) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || waiting_bytes_ <= bytes; });
    return !closed_;
  }

 private:
  struct Message {
    std::unique_ptr<std::string> bytes;
    bool joinable;
  };

  // Maximum size of a joined message. Larger messages would keep the receiver waiting.
  static constexpr size_t kMaxJoinedBytes = size_t{64} << 10;

  bool Add(const void* data, size_t size, bool joinable) {
    const auto* bytes = static_cast<const char*>(data);
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_ || ended_) return false;
    waiting_bytes_ += size;
    if (joinable && !messages_.empty() && messages_.back().joinable &&
        messages_.back().bytes->size() + size <= kMaxJoinedBytes) {
      messages_.back().bytes->append(bytes, size);
    } else {
      messages_.push_back({std::make_unique<std::string>(bytes, size), joinable});
    }
    Next();
    return true;
  }
  // Requires mutex_.
  void Next() {
    if (!open_ || closed_ || sending_) return;
    if (!messages_.empty()) {
      sending_ = true;
      sending_bytes_ = messages_.front().bytes->size();
      const grpc::ByteBuffer message = MakeMessage(std::move(messages_.front().bytes));
      messages_.pop_front();
      send_(message);
    } else if (ended_ && at_end_) {
      std::exchange(at_end_, nullptr)();
    }
  }

  const Send send_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Message> messages_;  // without the message being sent
  size_t waiting_bytes_ = 0;      // including the message being sent
  size_t sending_bytes_ = 0;
  std::function<void()> at_end_;
  bool open_ = false;
  bool sending_ = false;
  bool ended_ = false;
  bool closed_ = false;
};

}  // namespace hpu::rpc

#endif  // HPU_PLUGIN_RPC_WRITE_QUEUE_H_
