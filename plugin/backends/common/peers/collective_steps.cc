#include "plugin/backends/common/peers/collective_steps.h"

#include <algorithm>
#include <cstring>

#include "plugin/backends/common/peers/reduction.h"

namespace hpu::peers {

// In ReduceScatter, a piece holds a section of the chunk for each rank.
CollectiveSteps::CollectiveSteps(const PeerSegment& segment, int rank, int size, const MappedCollective& collective,
                                 uint64_t first_piece)
    : segment_(segment),
      rank_(rank),
      size_(size),
      collective_(collective),
      first_piece_(first_piece),
      element_bytes_(hal::SizeOf(collective.dtype)),
      chunk_elements_(segment.piece_bytes() / element_bytes_ /
                      (collective.kind == MappedCollective::Kind::kReduceScatter ? size : 1)),
      chunks_(std::max<uint64_t>(1, collective.elements.count / chunk_elements_ +
                                        (collective.elements.count % chunk_elements_ > 0 ? 1 : 0))) {}

CollectiveSteps::Range CollectiveSteps::ChunkRange(uint64_t chunk) const {
  const uint64_t begin = chunk * chunk_elements_;
  return {begin, std::min(begin + chunk_elements_, collective_.elements.count)};
}

CollectiveSteps::Range CollectiveSteps::ShareOf(const Range& chunk, int rank) const {
  return {chunk.begin + chunk.count() * rank / size_, chunk.begin + chunk.count() * (rank + 1) / size_};
}

char* CollectiveSteps::PieceOf(int rank, uint64_t chunk) const {
  return segment_.collective_piece(rank, static_cast<int>((first_piece_ + chunk) % kCollectivePieces));
}

void CollectiveSteps::Copy(char* to, const char* from, uint64_t count) const {
  if (count > 0 && to != from) std::memmove(to, from, count * element_bytes_);
}

void CollectiveSteps::CopyIn(uint64_t chunk) const {
  const Range range = ChunkRange(chunk);
  char* const piece = PieceOf(rank_, chunk);
  switch (collective_.kind) {
    case MappedCollective::Kind::kAllReduce: {
      const Range own = ShareOf(range, rank_);
      Copy(piece, SourceAt(range.begin), own.begin - range.begin);
      Copy(piece + (own.end - range.begin) * element_bytes_, SourceAt(own.end), range.end - own.end);
      return;
    }
    case MappedCollective::Kind::kReduceScatter:
      for (int rank = 0; rank < size_; ++rank) {
        if (rank == rank_) continue;
        Copy(piece + rank * chunk_elements_ * element_bytes_, SourceAt(rank * collective_.elements.count + range.begin),
             range.count());
      }
      return;
    case MappedCollective::Kind::kAllGather:
      return Copy(piece, SourceAt(range.begin), size_ > 1 ? range.count() : 0);
    case MappedCollective::Kind::kBroadcast:
      return Copy(piece, SourceAt(range.begin), size_ > 1 && rank_ == collective_.root ? range.count() : 0);
  }
}

void CollectiveSteps::Exchange(uint64_t chunk) const {
  const Range range = ChunkRange(chunk);
  const Range share = ShareOf(range, rank_);
  const uint64_t offset = (share.begin - range.begin) * element_bytes_;
  std::vector<const char*> sources;
  for (int rank = 0; rank < size_; ++rank) {
    sources.push_back(rank == rank_ ? SourceAt(share.begin) : PieceOf(rank, chunk) + offset);
  }
  std::vector<char*> destinations = {DestinationAt(share.begin)};
  if (size_ > 1) destinations.push_back(PieceOf(rank_, chunk) + offset);
  Reduce(collective_.dtype, collective_.op, sources, share.count(), destinations);
}

void CollectiveSteps::CopyOut(uint64_t chunk) const {
  const Range range = ChunkRange(chunk);
  switch (collective_.kind) {
    case MappedCollective::Kind::kAllReduce:
      for (int rank = 0; rank < size_; ++rank) {
        if (rank == rank_) continue;
        const Range share = ShareOf(range, rank);
        Copy(DestinationAt(share.begin), PieceOf(rank, chunk) + (share.begin - range.begin) * element_bytes_,
             share.count());
      }
      return;
    case MappedCollective::Kind::kReduceScatter: {
      const uint64_t offset = rank_ * chunk_elements_ * element_bytes_;
      std::vector<const char*> sources;
      for (int rank = 0; rank < size_; ++rank) {
        sources.push_back(rank == rank_ ? SourceAt(rank * collective_.elements.count + range.begin)
                                        : PieceOf(rank, chunk) + offset);
      }
      return Reduce(collective_.dtype, collective_.op, sources, range.count(), {DestinationAt(range.begin)});
    }
    case MappedCollective::Kind::kAllGather:
      for (int rank = 0; rank < size_; ++rank) {
        Copy(DestinationAt(rank * collective_.elements.count + range.begin),
             rank == rank_ ? SourceAt(range.begin) : PieceOf(rank, chunk), range.count());
      }
      return;
    case MappedCollective::Kind::kBroadcast:
      return Copy(DestinationAt(range.begin),
                  rank_ == collective_.root ? SourceAt(range.begin) : PieceOf(collective_.root, chunk), range.count());
  }
}

}  // namespace hpu::peers
