// SharedBuffer: a PJRT buffer that ranges of addresses, views and queued copies share.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_SHARED_BUFFER_H_
#define HPU_PLUGIN_BACKENDS_PJRT_SHARED_BUFFER_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "plugin/backends/pjrt/client/handles.h"

namespace hpu::pjrt {

// `handle`, `lost` and `is_promised` change only while one owner holds the buffer, or before the future `launched`
// becomes ready. PJRT keeps a buffer's memory until the
// launches that read it have ended, so an owner may release the buffer at any time.
struct SharedBuffer {
  SharedBuffer(BufferHandle owned, uint64_t size) : handle(std::move(owned)), bytes(size) {
    live.fetch_add(1, std::memory_order_relaxed);
  }
  ~SharedBuffer() { live.fetch_sub(1, std::memory_order_relaxed); }

  // A buffer that a collective writes. `handle` or `lost` is set when the collective has been launched or has failed.
  SharedBuffer(std::shared_future<void> launch, uint64_t size) : bytes(size), launched(std::move(launch)) {
    live.fetch_add(1, std::memory_order_relaxed);
  }

  // Whether `handle` is valid, without waiting. True for buffers that no collective writes.
  bool is_launched() const {
    return !launched.valid() || launched.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
  // Blocks until is_launched().
  void AwaitLaunch() const {
    if (launched.valid()) launched.wait();
  }

  SharedBuffer(const SharedBuffer&) = delete;
  SharedBuffer& operator=(const SharedBuffer&) = delete;

  static inline std::atomic<int64_t> live{0};  // number of objects in the process

  BufferHandle handle;  // null: the contents are lost
  uint64_t bytes;
  absl::Status lost;                  // why the contents are lost
  std::atomic<bool> is_ready{false};  // the contents are available; avoids a PJRT call
  bool is_promised = false;           // an exchange writes the contents, or fails
  std::shared_future<void> launched;  // invalid unless a collective writes the buffer
};

using SharedBufferPtr = std::shared_ptr<SharedBuffer>;

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_SHARED_BUFFER_H_
