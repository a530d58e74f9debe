// SharedStaging: memory that this process and the device server both see, through which large copies go.
#ifndef HPU_PLUGIN_BACKENDS_REMOTE_SHARED_STAGING_H_
#define HPU_PLUGIN_BACKENDS_REMOTE_SHARED_STAGING_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "plugin/backends/common/range_allocator.h"
#include "plugin/backends/remote/session.h"
#include "plugin/base/files/shared_memory.h"

namespace hpu::remote {

// Hands out the session's shared memory in pieces. Thread safe.
class SharedStaging {
 public:
  // A copy of fewer bytes is cheaper in a message.
  static constexpr uint64_t kMinBytes = uint64_t{16} << 10;

  // Null where the server offers no shared memory or is on another machine, or HPU_REMOTE_SHARED_MEMORY=0.
  static std::unique_ptr<SharedStaging> Open(const Session& session);

  // How large the pieces of a copy should be: small enough for client and server to work at once, and large enough to
  // be worth a message.
  static uint64_t PieceBytes(uint64_t copy_bytes);
  // A piece of at most PieceBytes; waits while there is no room. The lowest that is free comes first: it was used last
  // and is in the CPU's cache. It comes back when the last reference goes. Must not outlive this object.
  std::shared_ptr<char> Take(uint64_t bytes);
  // Where the piece is, as the server counts.
  uint64_t OffsetOf(const std::shared_ptr<char>& piece) const { return piece.get() - memory_->data(); }

 private:
  explicit SharedStaging(std::unique_ptr<files::SharedMemory> memory);
  void Return(uint64_t offset, uint64_t bytes);

  const std::unique_ptr<files::SharedMemory> memory_;
  std::mutex mutex_;
  std::condition_variable returned_;
  common::RangeAllocator allocator_;  // of offsets; guarded by mutex_
};

}  // namespace hpu::remote

#endif  // HPU_PLUGIN_BACKENDS_REMOTE_SHARED_STAGING_H_
