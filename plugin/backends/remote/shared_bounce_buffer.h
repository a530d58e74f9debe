// SharedBounceBuffer: memory shared with the device server, for large copies.
#ifndef HPU_PLUGIN_BACKENDS_REMOTE_SHARED_BOUNCE_BUFFER_H_
#define HPU_PLUGIN_BACKENDS_REMOTE_SHARED_BOUNCE_BUFFER_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "plugin/backends/common/range_allocator.h"
#include "plugin/backends/remote/session.h"
#include "plugin/base/files/shared_memory.h"

namespace hpu::remote {

// Allocates pieces of the session's shared memory. Thread safe.
class SharedBounceBuffer {
 public:
  // Smaller copies are cheaper in a message.
  static constexpr uint64_t kMinBytes = uint64_t{16} << 10;

  // Null if the server offers no shared memory or runs on another machine, or if HPU_REMOTE_SHARED_MEMORY=0.
  static std::unique_ptr<SharedBounceBuffer> Open(const Session& session);

  // Size of a copy's pieces: small enough to overlap the work of client and server, large enough to justify a message
  // each.
  static uint64_t PieceBytes(uint64_t copy_bytes);
  // Allocates a piece of at most PieceBytes; waits until there is room. The lowest free piece comes first, because it
  // was used last and is in the CPU's cache. The last reference frees the piece, which must not outlive this object.
  std::shared_ptr<char> Take(uint64_t bytes);
  // Offset of the piece in the shared memory, which the server uses.
  uint64_t OffsetOf(const std::shared_ptr<char>& piece) const { return piece.get() - memory_->data(); }

 private:
  explicit SharedBounceBuffer(std::unique_ptr<files::SharedMemory> memory);
  void Return(uint64_t offset, uint64_t bytes);

  const std::unique_ptr<files::SharedMemory> memory_;
  std::mutex mutex_;
  std::condition_variable returned_;
  common::RangeAllocator allocator_;  // allocates offsets; guarded by mutex_
};

}  // namespace hpu::remote

#endif  // HPU_PLUGIN_BACKENDS_REMOTE_SHARED_BOUNCE_BUFFER_H_
