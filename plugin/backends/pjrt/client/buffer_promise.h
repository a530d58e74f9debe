// BufferPromise: contents of a buffer that the host delivers later.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_CLIENT_BUFFER_PROMISE_H_
#define HPU_PLUGIN_BACKENDS_PJRT_CLIENT_BUFFER_PROMISE_H_

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/backends/pjrt/client/handles.h"

namespace hpu::pjrt {

// Work may use the buffer before the promise is kept; PJRT makes it wait. If a promise is destroyed before Fulfill or
// Fail, the buffer gets a Cancelled error. Must not outlive the client. Thread compatible.
class BufferPromise {
 public:
  // `manager` has promised `buffer`, of `bytes` bytes, and no other buffer. Client::Promise calls this.
  BufferPromise(TransferManagerHandle manager, BufferHandle buffer, uint64_t bytes)
      : manager_(std::move(manager)), buffer_(std::move(buffer)), bytes_(bytes) {}
  ~BufferPromise();
  BufferPromise(BufferPromise&&) = default;
  BufferPromise& operator=(BufferPromise&&) = delete;

  // The buffer; null if it was taken before. The promise stays.
  BufferHandle TakeBuffer() { return std::move(buffer_); }
  uint64_t bytes() const { return bytes_; }

  // Starts to copy the buffer's contents from `data`, which must stay unchanged until the event occurs.
  absl::StatusOr<Event> Fulfill(const void* data);
  // Gives the buffer an error, which work that uses the buffer gets too.
  void Fail(const absl::Status& error);

 private:
  TransferManagerHandle manager_;  // null after Fulfill or Fail
  BufferHandle buffer_;
  uint64_t bytes_;
};

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_CLIENT_BUFFER_PROMISE_H_
