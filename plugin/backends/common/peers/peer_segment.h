// PeerSegment: shared memory layout for the data exchange between the ranks of a communicator.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_PEERS_PEER_SEGMENT_H_
#define HPU_PLUGIN_BACKENDS_COMMON_PEERS_PEER_SEGMENT_H_

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>

#include "absl/strings/string_view.h"
#include "plugin/base/files/shared_memory.h"
#include "plugin/hal/communicator.h"

namespace hpu::peers {

// The structs below are in shared memory, which starts as zeros. Any rank can write any byte at any time, so a reader
// copies a value once (atomic load or Snapshot) and checks the copy. There are no locks, because a killed rank would
// never release them.

// A private copy of a shared value; the compiler cannot read the original again.
template <typename T>
T Snapshot(const T& shared) {
  static_assert(std::is_trivially_copyable_v<T>);
  T copy;
  std::memcpy(&copy, &shared, sizeof(T));
  asm volatile("" : : "r"(&copy) : "memory");
  return copy;
}

// A hal::Elements and its data type.
struct ElementsRecord {
  static ElementsRecord Of(const hal::Elements& elements, hal::DataType dtype);
  bool IsValid() const;
  bool operator==(const ElementsRecord& other) const;
  // For example "6 elements of float32, shape [2,3]". Requires IsValid.
  std::string Describe() const;

  uint64_t count = 0;
  uint32_t dtype = 0;
  uint32_t shape_bytes = 0;
  char shape[hal::Elements::kMaxShapeBytes] = {};
};

// Parameters of one rank's collective: a MappedCollective without its pointers.
struct CollectiveRecord {
  uint32_t kind = 0;
  uint32_t op = 0;
  int32_t root = 0;
  uint32_t padding = 0;
  ElementsRecord elements;
};

// A rank's reason for aborting the communicator.
struct ReasonRecord {
  static constexpr uint32_t kMaxBytes = 508;

  void Set(absl::string_view reason);
  // Requires `bytes` <= kMaxBytes. Characters that are not printable ASCII become '?'.
  std::string Text() const;

  uint32_t bytes = 0;
  char text[kMaxBytes] = {};
};

// Futex on which the owning rank sleeps and which other ranks ring.
struct alignas(64) Bell {
  static constexpr uint32_t kAnyRank = UINT32_MAX;

  // Wakes the sleeping rank if it waits for `rank` or for any rank; otherwise makes no system call.
  void RingFrom(int rank);
  void Ring();
  // Sleeps until the bell rings. Returns immediately if `rings` differs from `seen`, and after 50 ms at the latest,
  // because a wake-up may be lost.
  void Sleep(uint32_t seen);

  std::atomic<uint32_t> rings;
  std::atomic<uint32_t> waits_for;  // 1 + the rank that the sleeping rank waits for, or kAnyRank; 0: awake
};

// State of one rank. Only this rank writes it, except for the bells.
struct alignas(64) RankBlock {
  std::atomic<uint32_t> progress;  // barriers at which the rank has arrived
  Bell collective_bell;
  Bell transfer_bell;
  CollectiveRecord collectives[2];  // records of the rank's last two collectives, by number modulo 2
  ReasonRecord reason;              // complete before `aborted_by` names the rank
};

// Number of pieces (data buffers of equal size) that each rank has for collectives and for transfers.
inline constexpr int kCollectivePieces = 3;
inline constexpr int kTransferPieces = 2;

// State of the transfers from one rank to another. A packet is one filled piece of the sender.
struct alignas(64) PairBlock {
  // Written by the receiver.
  std::atomic<uint32_t> requested;  // transfers that the receiver has begun
  std::atomic<uint32_t> consumed;   // packets that the receiver has copied
  ElementsRecord elements;          // elements of the latest requested transfer
  // Written by the sender.
  alignas(64) std::atomic<uint32_t> offered;       // packets that the sender has filled
  std::atomic<uint32_t> packets[kTransferPieces];  // piece index, ORed with kRefusal if the sender refuses
  static constexpr uint32_t kRefusal = 256;        // the piece holds the sender's ElementsRecord
};

static_assert(std::atomic<uint32_t>::is_always_lock_free && sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

// A rank's mapping of the segment.
class PeerSegment {
 public:
  static constexpr int kMaxRanks = 1024;

  // Requires 1 <= ranks <= kMaxRanks, like the constructor.
  static uint64_t BytesFor(int ranks);

  PeerSegment(std::unique_ptr<files::SharedMemory> memory, int ranks);

  // 1 + the first rank that has aborted the communicator, or 0.
  std::atomic<uint32_t>& aborted_by() const;
  RankBlock& rank(int rank) const;
  PairBlock& pair(int sender, int receiver) const;
  uint64_t piece_bytes() const { return piece_bytes_; }
  char* collective_piece(int rank, int index) const { return Piece(rank, index); }
  char* transfer_piece(int rank, int index) const { return Piece(rank, kCollectivePieces + index); }

 private:
  char* Piece(int rank, int index) const;

  const std::unique_ptr<files::SharedMemory> memory_;
  const int ranks_;
  const uint64_t piece_bytes_;
  char* const pieces_;
};

}  // namespace hpu::peers

#endif  // HPU_PLUGIN_BACKENDS_COMMON_PEERS_PEER_SEGMENT_H_
