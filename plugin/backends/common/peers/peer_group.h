// PeerGroup: one rank's side of collectives and transfers through shared memory.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_PEERS_PEER_GROUP_H_
#define HPU_PLUGIN_BACKENDS_COMMON_PEERS_PEER_GROUP_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/common/peers/collective_steps.h"
#include "plugin/backends/common/peers/peer_segment.h"
#include "plugin/backends/common/spin.h"
#include "plugin/base/files/shared_memory.h"

namespace hpu::peers {

// One send or receive of a rank. `data` is device memory of that rank; null if the ranks only compare their elements,
// because another library moves the data.
struct Transfer {
  bool sends = false;
  int peer = 0;
  char* data = nullptr;
  hal::Elements elements = 0;
  hal::DataType dtype = hal::DataType::kInvalid;
};

// The ranks are threads or processes, which share only the segment. Each rank maps the segment. A rank does not trust
// the segment: an operation that reads an impossible value fails with Internal. If the process of a rank ends, the
// other ranks wait until Abort.
//
// Only one Run or Compare and one Exchange may run at a time; any thread may call Abort and Check.
class PeerGroup {
 public:
  // Shared memory for `ranks` ranks; pages are committed at first use. Fails with InvalidArgument for an unsupported
  // number of ranks.
  static absl::StatusOr<std::unique_ptr<files::SharedMemory>> CreateSegment(int ranks);
  // Size of the segment, for files::SharedMemory::Open.
  static absl::StatusOr<uint64_t> SegmentBytes(int ranks);
  // Fails with InvalidArgument if the segment was not created for `size` ranks, or if `rank` is not in [0, size).
  static absl::StatusOr<std::unique_ptr<PeerGroup>> Attach(std::unique_ptr<files::SharedMemory> segment, int rank,
                                                           int size);

  PeerGroup(const PeerGroup&) = delete;
  PeerGroup& operator=(const PeerGroup&) = delete;

  // Runs one collective; returns when this rank's destination is complete. If kind, elements, dtype, op or root differ
  // between ranks, Run fails on all ranks with InvalidArgument, which lists each rank's operation.
  absl::Status Run(const MappedCollective& own);
  // Waits until all ranks have called Compare with the same collective, but moves no data. Fails as Run does.
  absl::Status Compare(const MappedCollective& own);
  // Runs transfers concurrently. The sends of one rank match the receives of its peer in order. If the elements of a
  // send and a receive differ, Exchange fails with InvalidArgument on both ranks.
  absl::Status Exchange(const std::vector<Transfer>& transfers);
  // Makes waiting and later operations fail with Cancelled and `reason`, on all ranks. Only the first reason is kept.
  // An empty reason becomes "rank N has aborted the communicator".
  void Abort(absl::string_view reason);
  // OK, or the error of an aborted communicator.
  absl::Status Check();

 private:
  class TransferLoop;

  // Number of transfers and packets so far with one peer, in one direction.
  struct PairCounts {
    uint32_t transfers = 0;
    uint32_t packets = 0;
  };

  PeerGroup(std::unique_ptr<files::SharedMemory> segment, int rank, int size);

  // Waits until ready() is true; fails if the communicator is aborted first. `waits_for`: see Bell::waits_for.
  template <typename Ready>
  absl::Status Await(Bell& bell, uint32_t waits_for, common::AdaptiveSpin& spin, const Ready& ready);
  // Signals to the other ranks that this rank has reached its next barrier. Returns the number of the barrier.
  uint32_t Arrive();
  // Writes this rank's record of its next collective.
  CollectiveRecord Record(const MappedCollective& own);
  // Waits until all ranks have arrived at a barrier.
  absl::Status AwaitAll(uint32_t barrier);
  absl::Status CompareRecords(const CollectiveRecord& own);
  // Aborts the communicator because the segment contains an impossible value; `what` is the name of the value. Returns
  // the communicator's error.
  absl::Status Damaged(absl::string_view what);
  // Aborts the communicator with `error` on this rank and `reason` on the other ranks, unless it was already aborted.
  void End(const absl::Status& error, absl::string_view reason);

  const PeerSegment segment_;
  const int rank_;
  const int size_;

  uint32_t progress_ = 0;    // barriers at which this rank has arrived
  uint64_t operations_ = 0;  // collectives so far
  uint64_t next_piece_ = 0;  // index of the piece for the next chunk
  common::AdaptiveSpin collective_spin_;

  std::vector<PairCounts> sent_;      // by peer
  std::vector<PairCounts> received_;  // by peer
  common::AdaptiveSpin transfer_spin_;

  std::atomic<bool> aborted_{false};
  std::mutex abort_mutex_;
  absl::Status error_;  // guarded by abort_mutex_; set once, before aborted_
};

template <typename Ready>
absl::Status PeerGroup::Await(Bell& bell, uint32_t waits_for, common::AdaptiveSpin& spin, const Ready& ready) {
  if (spin.Await(ready)) return absl::OkStatus();
  absl::Status status;
  while (true) {
    const uint32_t rings = bell.rings.load();
    bell.waits_for.store(waits_for);
    if (ready()) break;
    status = Check();
    if (!status.ok()) break;
    bell.Sleep(rings);
  }
  bell.waits_for.store(0);
  return status;
}

}  // namespace hpu::peers

#endif  // HPU_PLUGIN_BACKENDS_COMMON_PEERS_PEER_GROUP_H_
