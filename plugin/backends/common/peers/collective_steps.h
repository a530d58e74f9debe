// CollectiveSteps: copies and reductions of one rank in a collective, without synchronization.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_PEERS_COLLECTIVE_STEPS_H_
#define HPU_PLUGIN_BACKENDS_COMMON_PEERS_COLLECTIVE_STEPS_H_

#include <cstdint>
#include <vector>

#include "plugin/backends/common/checked_communicator.h"
#include "plugin/backends/common/peers/peer_segment.h"

namespace hpu::peers {

// One rank's operands in a collective. Pointers are device memory of that rank.
struct MappedCollective {
  using Kind = common::Collective::Kind;

  Kind kind = Kind::kAllReduce;
  const char* source = nullptr;
  char* destination = nullptr;
  hal::Elements elements = 0;  // as in hal::Communicator
  hal::DataType dtype = hal::DataType::kInvalid;
  hal::ReduceOp op = hal::ReduceOp::kSum;
  int root = 0;
};

// A collective moves its data in chunks. For each chunk, every rank uses one piece (a buffer of the rank in the
// segment). A rank reads its own share of a chunk directly from the source, so collectives may run in place, as in
// NCCL.
class CollectiveSteps {
 public:
  // `first_piece`: index of the piece for chunk 0, less than kCollectivePieces. Borrows `segment` and `collective`.
  CollectiveSteps(const PeerSegment& segment, int rank, int size, const MappedCollective& collective,
                  uint64_t first_piece);

  // Number of chunks, at least 1: even without elements, the ranks must compare their operations (kind, dtype, root).
  uint64_t chunks() const { return chunks_; }
  // Whether Exchange must run between CopyIn and CopyOut.
  bool exchanges_results() const { return collective_.kind == MappedCollective::Kind::kAllReduce; }

  // Copies the data of the chunk that other ranks need into this rank's piece.
  void CopyIn(uint64_t chunk) const;
  // For AllReduce: reduces this rank's share of the chunk for all ranks. Requires that all ranks have called CopyIn.
  void Exchange(uint64_t chunk) const;
  // Writes the destination, except this rank's share of an AllReduce, which Exchange has written. Requires that all
  // ranks have called CopyIn, and Exchange if exchanges_results().
  void CopyOut(uint64_t chunk) const;

 private:
  struct Range {
    uint64_t begin = 0;
    uint64_t end = 0;
    uint64_t count() const { return end - begin; }
  };
  // Range of the operand's elements in a chunk.
  Range ChunkRange(uint64_t chunk) const;
  // For AllReduce: the elements of the chunk that `rank` reduces.
  Range ShareOf(const Range& chunk, int rank) const;
  char* PieceOf(int rank, uint64_t chunk) const;
  const char* SourceAt(uint64_t element) const { return collective_.source + element * element_bytes_; }
  char* DestinationAt(uint64_t element) const { return collective_.destination + element * element_bytes_; }
  void Copy(char* to, const char* from, uint64_t count) const;

  const PeerSegment& segment_;
  const int rank_;
  const int size_;
  const MappedCollective& collective_;
  const uint64_t first_piece_;
  const uint64_t element_bytes_;
  const uint64_t chunk_elements_;
  const uint64_t chunks_;
};

}  // namespace hpu::peers

#endif  // HPU_PLUGIN_BACKENDS_COMMON_PEERS_COLLECTIVE_STEPS_H_
