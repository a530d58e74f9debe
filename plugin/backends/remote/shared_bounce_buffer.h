// SharedBounceBuffer: bounce buffer for large copies, in memory shared with the device server.
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

// A large copy is split into pieces, each of which passes through an allocated range of the session's shared memory.
// Thread safe.
class SharedBounceBuffer {
 public:
  // Smaller copies are cheaper in a message.
  static constexpr uint64_t kMinBytes = uint64_t{16} << 10;

  // Null if the server is not at a Unix socket, if the server shares less than 4 MiB, or with
  // HPU_REMOTE_SHARED_MEMORY=0. Also null, with a log message, if sharing fails.
  static std::unique_ptr<SharedBounceBuffer> Open(const Session& session);

  // Size of the pieces of a copy: small enough that client and server work in parallel, large enough to justify one
  // message per piece.
  static uint64_t PieceBytes(uint64_t copy_bytes);
  // Allocates memory for a piece of at most PieceBytes(); blocks until enough memory is free. Best fit tends to reuse
  // memory that is still in the CPU's cache. The last reference frees the memory. References must not outlive the
  // SharedBounceBuffer.
  std::shared_ptr<char> Allocate(uint64_t bytes);
  // Offset of the piece in the shared memory. Messages to the server use offsets, because the two processes map the
  // memory at different addresses.
  uint64_t OffsetOf(const std::shared_ptr<char>& piece) const { return piece.get() - memory_->data(); }

 private:
  explicit SharedBounceBuffer(std::unique_ptr<files::SharedMemory> memory);
  void Free(uint64_t offset, uint64_t bytes);

  const std::unique_ptr<files::SharedMemory> memory_;
  std::mutex mutex_;
  std::condition_variable returned_;
  common::RangeAllocator allocator_;  // allocates offsets; guarded by mutex_
};

}  // namespace hpu::remote

#endif  // HPU_PLUGIN_BACKENDS_REMOTE_SHARED_BOUNCE_BUFFER_H_
