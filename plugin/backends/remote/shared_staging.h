// SharedStaging: memory that this process and the device server both see, through which large copies go.
#ifndef HPU_PLUGIN_BACKENDS_REMOTE_SHARED_STAGING_H_
#define HPU_PLUGIN_BACKENDS_REMOTE_SHARED_STAGING_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "plugin/backends/remote/session.h"
#include "plugin/files/shared_memory.h"

namespace hpu::remote {

// The session's shared memory in pieces of one size. Thread safe.
class SharedStaging {
 public:
  static constexpr uint64_t kPieceBytes = uint64_t{1} << 20;
  // A copy of fewer bytes is cheaper in a message.
  static constexpr uint64_t kLeastBytes = uint64_t{16} << 10;

  // Null where the server offers no shared memory or is on another machine, or HPU_REMOTE_SHARED_MEMORY=0.
  static std::unique_ptr<SharedStaging> Open(const Session& session);

  // A piece; waits for one if all are in use. The one that was used last comes first: it is in the CPU's cache. It
  // comes back when the last reference goes. Must not outlive this object.
  std::shared_ptr<char> Take();
  // Where the piece is, as the server counts.
  uint64_t OffsetOf(const std::shared_ptr<char>& piece) const { return piece.get() - memory_->data(); }

 private:
  explicit SharedStaging(std::unique_ptr<files::SharedMemory> memory);
  void Return(char* piece);

  const std::unique_ptr<files::SharedMemory> memory_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<char*> free_;  // guarded by mutex_
};

}  // namespace hpu::remote

#endif  // HPU_PLUGIN_BACKENDS_REMOTE_SHARED_STAGING_H_
