// WriteQueue: the messages of a call that wait to be sent. gRPC takes one at a time, and a message costs tens of
// microseconds on its way: hence the joining.
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

// `send` starts the sending of a message, whose end the owner tells by Sent(). It runs under the queue's lock.
// Thread safe.
class WriteQueue {
 public:
  using Send = std::function<void(const grpc::ByteBuffer&)>;
  explicit WriteQueue(Send send) : send_(std::move(send)) {}

  // Messages go out from now on; `at_end` runs after the last one if End() was called.
  void Open(std::function<void()> at_end) {
    std::lock_guard<std::mutex> lock(mutex_);
    at_end_ = std::move(at_end);
    open_ = true;
    Next();
  }
  // False if the queue is closed or has ended.
  bool Push(const void* data, size_t size) { return Add(data, size, /*joinable=*/false); }
  // The same for a message that may be sent as one with others of its kind, end to end.
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
  // No message follows those pushed so far.
  void End() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (ended_) return;
    ended_ = true;
    Next();
  }
  // Starts no further operation and wakes those who wait. What is being sent stays the owner's until Sent().
  void Close() {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  // False if the queue was closed meanwhile.
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

  // So that joining does not keep the receiver waiting, nor make messages too large.
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
  // Holds mutex_.
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
  std::deque<Message> messages_;  // without the one that is being sent
  size_t waiting_bytes_ = 0;      // with that
  size_t sending_bytes_ = 0;
  std::function<void()> at_end_;
  bool open_ = false;
  bool sending_ = false;
  bool ended_ = false;
  bool closed_ = false;
};

}  // namespace hpu::rpc

#endif  // HPU_PLUGIN_RPC_WRITE_QUEUE_H_
