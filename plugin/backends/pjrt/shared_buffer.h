// SharedBuffer: a PJRT buffer that ranges of addresses, views and queued copies share.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_SHARED_BUFFER_H_
#define HPU_PLUGIN_BACKENDS_PJRT_SHARED_BUFFER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "plugin/backends/pjrt/client/handles.h"

namespace hpu::pjrt {

// `handle` and `is_promised` change only while one owner holds the buffer. PJRT keeps a buffer's memory until the
// launches that read it have ended, so an owner may release the buffer at any time.
struct SharedBuffer {
  SharedBuffer(BufferHandle owned, uint64_t size) : handle(std::move(owned)), bytes(size) {
    live.fetch_add(1, std::memory_order_relaxed);
  }
  ~SharedBuffer() { live.fetch_sub(1, std::memory_order_relaxed); }

  SharedBuffer(const SharedBuffer&) = delete;
  SharedBuffer& operator=(const SharedBuffer&) = delete;

  static inline std::atomic<int64_t> live{0};  // number of objects in the process

  BufferHandle handle;  // null: the contents are lost
  uint64_t bytes;
  absl::Status lost;                  // why the contents are lost
  std::atomic<bool> is_ready{false};  // the contents are available; avoids a PJRT call
  bool is_promised = false;           // an exchange writes the contents, or fails
};

using SharedBufferPtr = std::shared_ptr<SharedBuffer>;

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_SHARED_BUFFER_H_
