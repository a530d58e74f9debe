#include "plugin/backends/common/peers/peer_segment.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace hpu::peers {
namespace {

constexpr uint64_t kPage = 4096;
constexpr int kPiecesPerRank = kCollectivePieces + kTransferPieces;
// A piece fits in a core's L2 cache. kMaxDataBytes bounds all pieces together, even for many ranks.
constexpr uint64_t kMaxPieceBytes = uint64_t{256} << 10;
constexpr uint64_t kMaxDataBytes = uint64_t{160} << 20;
constexpr timespec kMaxSleep = {0, 50'000'000};

constexpr uint64_t RoundUpToPage(uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

uint64_t PieceBytes(int ranks) {
  return std::min(kMaxPieceBytes, kMaxDataBytes / (kPiecesPerRank * ranks) / kPage * kPage);
}

// Offsets in the segment; `aborted_by` is its first word.
constexpr uint64_t kRanksOffset = kPage;
uint64_t PairsOffset(uint64_t ranks) { return kRanksOffset + RoundUpToPage(ranks * sizeof(RankBlock)); }
uint64_t PiecesOffset(uint64_t ranks) { return PairsOffset(ranks) + RoundUpToPage(ranks * ranks * sizeof(PairBlock)); }

std::string Printable(const char* text, uint32_t bytes) {
  std::string printable(text, bytes);
  for (char& c : printable) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) c = '?';
  }
  return printable;
}

// The futex is not private, because ranks may be processes.
uint32_t* FutexWord(std::atomic<uint32_t>* word) { return reinterpret_cast<uint32_t*>(word); }

}  // namespace

ElementsRecord ElementsRecord::Of(const hal::Elements& elements, hal::DataType dtype) {
  ElementsRecord record;
  record.count = elements.count;
  record.dtype = static_cast<uint32_t>(dtype);
  record.shape_bytes = static_cast<uint32_t>(std::min(elements.shape.size(), sizeof(record.shape)));
  std::memcpy(record.shape, elements.shape.data(), record.shape_bytes);
  return record;
}

bool ElementsRecord::IsValid() const {
  return dtype <= UINT8_MAX && hal::SizeOf(static_cast<hal::DataType>(dtype)) > 0 && shape_bytes <= sizeof(shape);
}

bool ElementsRecord::operator==(const ElementsRecord& other) const {
  return count == other.count && dtype == other.dtype && shape_bytes == other.shape_bytes &&
         std::memcmp(shape, other.shape, shape_bytes) == 0;
}

std::string ElementsRecord::Describe() const {
  const std::string text = absl::StrCat(count, " elements of ", hal::NameOf(static_cast<hal::DataType>(dtype)));
  return shape_bytes == 0 ? text : absl::StrCat(text, ", shape ", Printable(shape, shape_bytes));
}

void ReasonRecord::Set(absl::string_view reason) {
  bytes = static_cast<uint32_t>(std::min<size_t>(reason.size(), kMaxBytes));
  std::memcpy(text, reason.data(), bytes);
}

std::string ReasonRecord::Text() const { return Printable(text, bytes); }

void Bell::RingFrom(int rank) {
  const uint32_t awaited = waits_for.load();
  if (awaited == kAnyRank || awaited == static_cast<uint32_t>(rank) + 1) Ring();
}

void Bell::Ring() {
  rings.fetch_add(1);
  syscall(SYS_futex, FutexWord(&rings), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void Bell::Sleep(uint32_t seen) { syscall(SYS_futex, FutexWord(&rings), FUTEX_WAIT, seen, &kMaxSleep, nullptr, 0); }

uint64_t PeerSegment::BytesFor(int ranks) { return PiecesOffset(ranks) + PieceBytes(ranks) * kPiecesPerRank * ranks; }

PeerSegment::PeerSegment(std::unique_ptr<files::SharedMemory> memory, int ranks)
    : memory_(std::move(memory)),
      ranks_(ranks),
      piece_bytes_(PieceBytes(ranks)),
      pieces_(memory_->data() + PiecesOffset(ranks)) {}

std::atomic<uint32_t>& PeerSegment::aborted_by() const {
  return *reinterpret_cast<std::atomic<uint32_t>*>(memory_->data());
}

RankBlock& PeerSegment::rank(int rank) const {
  return reinterpret_cast<RankBlock*>(memory_->data() + kRanksOffset)[rank];
}

PairBlock& PeerSegment::pair(int sender, int receiver) const {
  auto* const pairs = reinterpret_cast<PairBlock*>(memory_->data() + PairsOffset(ranks_));
  return pairs[static_cast<uint64_t>(sender) * ranks_ + receiver];
}

char* PeerSegment::Piece(int rank, int index) const {
  return pieces_ + (static_cast<uint64_t>(rank) * kPiecesPerRank + index) * piece_bytes_;
}

}  // namespace hpu::peers
