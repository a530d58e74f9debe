// BufferPromise: device buffer whose contents the host writes later.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_CLIENT_BUFFER_PROMISE_H_
#define HPU_PLUGIN_BACKENDS_PJRT_CLIENT_BUFFER_PROMISE_H_

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/backends/pjrt/client/handles.h"

namespace hpu::pjrt {

// Work that uses the buffer may be queued before Fulfill; PJRT delays the work until then. If a promise is destroyed
// before Fulfill or Fail, the buffer fails with Cancelled. Must not outlive the client. Thread compatible.
class BufferPromise {
 public:
  // `manager`: transfer manager of `buffer` (`bytes` bytes) and of no other buffer. Called by Client::Promise.
  BufferPromise(TransferManagerHandle manager, BufferHandle buffer, uint64_t bytes)
      : manager_(std::move(manager)), buffer_(std::move(buffer)), bytes_(bytes) {}
  ~BufferPromise();
  BufferPromise(BufferPromise&&) = default;
  BufferPromise& operator=(BufferPromise&&) = delete;

  // Transfers ownership of the buffer; null after the first call. The promise stays valid.
  BufferHandle TakeBuffer() { return std::move(buffer_); }
  uint64_t bytes() const { return bytes_; }

  // Starts to copy the buffer's contents from `data`, which must stay unchanged until the event occurs.
  absl::StatusOr<Event> Fulfill(const void* data);
  // Marks the buffer as failed with `error`. Work that uses the buffer also fails with `error`.
  void Fail(const absl::Status& error);

 private:
  TransferManagerHandle manager_;  // null after Fulfill or Fail
  BufferHandle buffer_;
  uint64_t bytes_;
};

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_CLIENT_BUFFER_PROMISE_H_
