#include "plugin/backends/common/peers/collective_steps.h"

#include <algorithm>
#include <cstring>

#include "plugin/backends/common/peers/reduction.h"

namespace hpu::peers {

// In ReduceScatter, a piece holds a section of the chunk for each rank.
CollectiveSteps::CollectiveSteps(const PeerSegment& segment, int rank, int size, const Part& part, uint64_t first_piece)
    : segment_(segment),
      rank_(rank),
      size_(size),
      part_(part),
      first_piece_(first_piece),
      element_bytes_(hal::SizeOf(part.dtype)),
      chunk_elements_(segment.piece_bytes() / element_bytes_ / (part.kind == Part::Kind::kReduceScatter ? size : 1)),
      chunks_(std::max<uint64_t>(
          1, part.elements.count / chunk_elements_ + (part.elements.count % chunk_elements_ > 0 ? 1 : 0))) {}

CollectiveSteps::Range CollectiveSteps::ChunkRange(uint64_t chunk) const {
  const uint64_t begin = chunk * chunk_elements_;
  return {begin, std::min(begin + chunk_elements_, part_.elements.count)};
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
  switch (part_.kind) {
    case Part::Kind::kAllReduce: {
      const Range own = ShareOf(range, rank_);
      Copy(piece, SourceAt(range.begin), own.begin - range.begin);
      Copy(piece + (own.end - range.begin) * element_bytes_, SourceAt(own.end), range.end - own.end);
      return;
    }
    case Part::Kind::kReduceScatter:
      for (int rank = 0; rank < size_; ++rank) {
        if (rank == rank_) continue;
        Copy(piece + rank * chunk_elements_ * element_bytes_, SourceAt(rank * part_.elements.count + range.begin),
             range.count());
      }
      return;
    case Part::Kind::kAllGather:
      return Copy(piece, SourceAt(range.begin), size_ > 1 ? range.count() : 0);
    case Part::Kind::kBroadcast:
      return Copy(piece, SourceAt(range.begin), size_ > 1 && rank_ == part_.root ? range.count() : 0);
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
  Reduce(part_.dtype, part_.op, sources, share.count(), destinations);
}

void CollectiveSteps::CopyOut(uint64_t chunk) const {
  const Range range = ChunkRange(chunk);
  switch (part_.kind) {
    case Part::Kind::kAllReduce:
      for (int rank = 0; rank < size_; ++rank) {
        if (rank == rank_) continue;
        const Range share = ShareOf(range, rank);
        Copy(DestinationAt(share.begin), PieceOf(rank, chunk) + (share.begin - range.begin) * element_bytes_,
             share.count());
      }
      return;
    case Part::Kind::kReduceScatter: {
      const uint64_t offset = rank_ * chunk_elements_ * element_bytes_;
      std::vector<const char*> sources;
      for (int rank = 0; rank < size_; ++rank) {
        sources.push_back(rank == rank_ ? SourceAt(rank * part_.elements.count + range.begin)
                                        : PieceOf(rank, chunk) + offset);
      }
      return Reduce(part_.dtype, part_.op, sources, range.count(), {DestinationAt(range.begin)});
    }
    case Part::Kind::kAllGather:
      for (int rank = 0; rank < size_; ++rank) {
        Copy(DestinationAt(rank * part_.elements.count + range.begin),
             rank == rank_ ? SourceAt(range.begin) : PieceOf(rank, chunk), range.count());
      }
      return;
    case Part::Kind::kBroadcast:
      return Copy(DestinationAt(range.begin), rank_ == part_.root ? SourceAt(range.begin) : PieceOf(part_.root, chunk),
                  range.count());
  }
}

}  // namespace hpu::peers
