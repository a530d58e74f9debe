// LocalRendezvous: rendezvous of the ranks of a communicator within this process.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_PEERS_LOCAL_RENDEZVOUS_H_
#define HPU_PLUGIN_BACKENDS_COMMON_PEERS_LOCAL_RENDEZVOUS_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/base/files/shared_memory.h"
#include "plugin/hal/communicator.h"

namespace hpu::peers {

// Each rank's communicator holds a reference, so that a second rank with the same number is detected. Thread safe.
class LocalRendezvous {
 public:
  // The rendezvous for `id`; the first call creates it. InvalidArgument if another rank has created it with a different
  // size.
  static absl::StatusOr<std::shared_ptr<LocalRendezvous>> Find(const std::string& id, int size);

  // Blocks until all ranks have joined, for at most a minute. Returns a mapping of the shared segment for this rank.
  // DeadlineExceeded names the missing ranks. Fails with InvalidArgument if options.rank has joined before. If
  // options.abandoned returns true on one rank, Join fails with Cancelled on all ranks. If one rank times out, Join
  // fails with Cancelled on the other ranks.
  absl::StatusOr<std::unique_ptr<files::SharedMemory>> Join(const hal::CommunicatorOptions& options);

 private:
  LocalRendezvous(std::unique_ptr<files::SharedMemory> segment, int size)
      : segment_(std::move(segment)), has_joined_(size) {}

  absl::Status AwaitRanks(const hal::CommunicatorOptions& options);
  std::string MissingLocked() const;

  const std::unique_ptr<files::SharedMemory> segment_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> has_joined_;  // by rank; guarded by mutex_, like all members below
  size_t joined_ = 0;
  std::string aborted_;  // reason of the failure; empty without a failure
};

}  // namespace hpu::peers

#endif  // HPU_PLUGIN_BACKENDS_COMMON_PEERS_LOCAL_RENDEZVOUS_H_
