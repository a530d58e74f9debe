// PeerGroup: one rank's side of collectives and transfers through shared memory.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_DEVICE_PEER_GROUP_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_DEVICE_PEER_GROUP_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/common/spin.h"
#include "plugin/backends/emulator/device/collective_steps.h"
#include "plugin/backends/emulator/device/peer_segment.h"
#include "plugin/base/files/shared_memory.h"

namespace hpu::emulator {

// What a rank sends or receives. `data` is device memory of that rank.
struct Transfer {
  bool sends = false;
  int peer = 0;
  char* data = nullptr;
  hal::Elements elements = 0;
  hal::DataType dtype = hal::DataType::kInvalid;
};

// The ranks are threads or processes that map one segment, which holds all that they see of each other. A rank does not
// trust the segment: a value that no correct rank writes ends this rank's work with an InternalError. A rank that dies
// leaves its peers waiting until Abort.
//
// One Run and one Exchange at a time; Abort may be called by any thread.
class PeerGroup {
 public:
  // Memory for `ranks` ranks; its pages are committed when they are first used. InvalidArgument for an unsupported
  // number of ranks.
  static absl::StatusOr<std::unique_ptr<files::SharedMemory>> CreateSegment(int ranks);
  // Size of that memory, for files::SharedMemory::Open.
  static absl::StatusOr<uint64_t> SegmentBytes(int ranks);
  // InvalidArgument if the segment is not one for `size` ranks.
  static absl::StatusOr<std::unique_ptr<PeerGroup>> Attach(std::unique_ptr<files::SharedMemory> segment, int rank,
                                                           int size);

  PeerGroup(const PeerGroup&) = delete;
  PeerGroup& operator=(const PeerGroup&) = delete;

  // Runs one collective; returns when this rank's memory is its own again. If the ranks' parts differ, all of them fail
  // with an InvalidArgument that names each rank's.
  absl::Status Run(const Part& own);
  // Runs transfers, which start together; those between the same two ranks match in order. Two that do not match are an
  // InvalidArgument for both ranks.
  absl::Status Exchange(const std::vector<Transfer>& transfers);
  // Ends waiting work and all later work with Cancelled, on all ranks. The first reason counts. An empty one becomes
  // "rank N has aborted the communicator".
  void Abort(absl::string_view reason);
  // OK, or the error of an aborted communicator.
  absl::Status Check();

 private:
  class TransferLoop;

  // Number of transfers and packets so far, on this rank's side of a pair.
  struct PairCounts {
    uint32_t transfers = 0;
    uint32_t packets = 0;
  };

  PeerGroup(std::unique_ptr<files::SharedMemory> segment, int rank, int size);

  // Returns once `ready` is true; an error if the communicator is aborted before. `awaited` as in Bell.
  template <typename Ready>
  absl::Status Await(Bell& bell, uint32_t awaited, common::AdaptiveSpin& spin, const Ready& ready);
  // Tells the other ranks that this one has reached its next barrier; returns that barrier's number.
  uint32_t Arrive();
  // Waits until all ranks have arrived at a barrier.
  absl::Status AwaitAll(uint32_t barrier);
  absl::Status CompareParts(const PartRecord& own);
  // Aborts the communicator because of an impossible value in the segment; returns the error.
  absl::Status Damaged(absl::string_view what);
  // The first error counts; `reason` is for the other ranks.
  void End(const absl::Status& error, absl::string_view reason);

  const PeerSegment segment_;
  const int rank_;
  const int size_;

  uint32_t progress_ = 0;    // barriers at which this rank has arrived
  uint64_t operations_ = 0;  // collectives so far
  uint64_t next_piece_ = 0;  // of the next chunk
  common::AdaptiveSpin collective_spin_;

  std::vector<PairCounts> sent_;      // by peer
  std::vector<PairCounts> received_;  // by peer
  common::AdaptiveSpin transfer_spin_;

  std::atomic<bool> aborted_{false};
  std::mutex abort_mutex_;
  absl::Status error_;  // guarded by abort_mutex_; set once, before aborted_
};

template <typename Ready>
absl::Status PeerGroup::Await(Bell& bell, uint32_t awaited, common::AdaptiveSpin& spin, const Ready& ready) {
  if (spin.Await(ready)) return absl::OkStatus();
  absl::Status status;
  while (true) {
    const uint32_t rings = bell.rings.load();
    bell.awaited.store(awaited);
    if (ready()) break;
    status = Check();
    if (!status.ok()) break;
    bell.Sleep(rings);
  }
  bell.awaited.store(0);
  return status;
}

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_DEVICE_PEER_GROUP_H_
