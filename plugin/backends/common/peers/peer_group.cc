#include "plugin/backends/common/peers/peer_group.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/base/status_macros.h"

namespace hpu::peers {
namespace {

// Maximum distance between the progress of a correct rank and an awaited barrier.
constexpr int32_t kMaxBarrierDistance = 8;

const char* NameOf(uint32_t kind) {
  switch (static_cast<MappedCollective::Kind>(kind)) {
    case MappedCollective::Kind::kAllReduce:
      return "AllReduce";
    case MappedCollective::Kind::kReduceScatter:
      return "ReduceScatter";
    case MappedCollective::Kind::kAllGather:
      return "AllGather";
    case MappedCollective::Kind::kBroadcast:
      return "Broadcast";
  }
  return "operation";
}

CollectiveRecord RecordOf(const MappedCollective& collective) {
  CollectiveRecord record;
  record.kind = static_cast<uint32_t>(collective.kind);
  record.op = static_cast<uint32_t>(collective.op);
  record.root = collective.root;
  record.elements = ElementsRecord::Of(collective.elements, collective.dtype);
  return record;
}

bool IsValid(const CollectiveRecord& collective) {
  return collective.kind <= static_cast<uint32_t>(MappedCollective::Kind::kBroadcast) &&
         collective.op <= static_cast<uint32_t>(hal::ReduceOp::kAverage) && collective.elements.IsValid();
}

bool Agree(const CollectiveRecord& one, const CollectiveRecord& other) {
  return one.kind == other.kind && one.op == other.op && one.root == other.root && one.elements == other.elements;
}

}  // namespace

absl::StatusOr<uint64_t> PeerGroup::SegmentBytes(int ranks) {
  if (ranks >= 1 && ranks <= PeerSegment::kMaxRanks) return PeerSegment::BytesFor(ranks);
  return absl::InvalidArgumentError(
      absl::StrCat("a communicator must have 1 to ", PeerSegment::kMaxRanks, " ranks, got ", ranks));
}

absl::StatusOr<std::unique_ptr<files::SharedMemory>> PeerGroup::CreateSegment(int ranks) {
  HPU_ASSIGN_OR_RETURN(const uint64_t bytes, SegmentBytes(ranks));
  return files::SharedMemory::Create(bytes);
}

absl::StatusOr<std::unique_ptr<PeerGroup>> PeerGroup::Attach(std::unique_ptr<files::SharedMemory> segment, int rank,
                                                             int size) {
  HPU_ASSIGN_OR_RETURN(const uint64_t bytes, SegmentBytes(size));
  if (rank < 0 || rank >= size) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no rank ", rank, " in a communicator of ", size, " ranks; ranks count from 0"));
  }
  if (segment->size() != bytes) {
    return absl::InvalidArgumentError(absl::StrCat("invalid shared memory for a communicator of ", size,
                                                   " ranks: expected ", bytes, " bytes, got ", segment->size(),
                                                   "; pass the same size on every rank"));
  }
  return std::unique_ptr<PeerGroup>(new PeerGroup(std::move(segment), rank, size));
}

PeerGroup::PeerGroup(std::unique_ptr<files::SharedMemory> segment, int rank, int size)
    : segment_(std::move(segment), size), rank_(rank), size_(size), sent_(size), received_(size) {}

uint32_t PeerGroup::Arrive() {
  segment_.rank(rank_).progress.store(++progress_);
  for (int rank = 0; rank < size_; ++rank) {
    if (rank != rank_) segment_.rank(rank).collective_bell.RingFrom(rank_);
  }
  return progress_;
}

absl::Status PeerGroup::AwaitAll(uint32_t barrier) {
  Bell& bell = segment_.rank(rank_).collective_bell;
  for (int rank = 0; rank < size_; ++rank) {
    if (rank == rank_) continue;
    const std::atomic<uint32_t>& progress = segment_.rank(rank).progress;
    int32_t ahead = 0;
    const auto has_arrived = [&] {
      ahead = static_cast<int32_t>(progress.load() - barrier);
      return ahead >= 0 || ahead < -kMaxBarrierDistance;
    };
    HPU_RETURN_IF_ERROR(Await(bell, static_cast<uint32_t>(rank) + 1, collective_spin_, has_arrived));
    if (ahead < 0 || ahead > kMaxBarrierDistance) return Damaged(absl::StrCat("progress of rank ", rank));
  }
  return absl::OkStatus();
}

absl::Status PeerGroup::CompareRecords(const CollectiveRecord& own) {
  std::vector<CollectiveRecord> collectives;
  bool agree = true;
  for (int rank = 0; rank < size_; ++rank) {
    const CollectiveRecord collective =
        rank == rank_ ? own : Snapshot(segment_.rank(rank).collectives[operations_ % 2]);
    if (!IsValid(collective)) return Damaged(absl::StrCat("operation of rank ", rank));
    agree = agree && Agree(collective, own);
    collectives.push_back(collective);
  }
  if (agree) return absl::OkStatus();
  static constexpr const char* kReductions[] = {"sum", "product", "min", "max", "average"};  // by hal::ReduceOp
  std::vector<std::string> told;
  for (int rank = 0; rank < size_; ++rank) {
    const CollectiveRecord& collective = collectives[rank];
    const auto kind = static_cast<MappedCollective::Kind>(collective.kind);
    const bool reduces = kind == MappedCollective::Kind::kAllReduce || kind == MappedCollective::Kind::kReduceScatter;
    told.push_back(absl::StrCat(
        "rank ", rank, ": ", NameOf(collective.kind), reduces ? absl::StrCat("(", kReductions[collective.op], ")") : "",
        kind == MappedCollective::Kind::kBroadcast ? absl::StrCat(" from rank ", collective.root) : "", " of ",
        collective.elements.Describe()));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the ", size_, " ranks of a communicator request different operations: ", absl::StrJoin(told, "; "),
                   "; issue the same collectives in the same order on every rank"));
}

// Overwrites the record of this rank's second-to-last operation. The peers have read that record, because they have
// since arrived at the previous operation's first barrier.
CollectiveRecord PeerGroup::Record(const MappedCollective& own) {
  const CollectiveRecord record = RecordOf(own);
  segment_.rank(rank_).collectives[operations_ % 2] = record;
  return record;
}

absl::Status PeerGroup::Compare(const MappedCollective& own) {
  HPU_RETURN_IF_ERROR(Check());
  const CollectiveRecord record = Record(own);
  HPU_RETURN_IF_ERROR(AwaitAll(Arrive()));
  const absl::Status verdict = CompareRecords(record);
  ++operations_;
  return verdict;
}

// A piece is reused after kCollectivePieces (three) chunks. By then, all ranks have finished reading the piece. Peers
// call CopyOut for a chunk before they arrive at the barrier of the second chunk after it. This rank awaits that
// barrier before it calls CopyIn for the third chunk.
absl::Status PeerGroup::Run(const MappedCollective& own) {
  HPU_RETURN_IF_ERROR(Check());
  const CollectiveSteps steps(segment_, rank_, size_, own, next_piece_);
  const CollectiveRecord record = Record(own);
  steps.CopyIn(0);
  uint32_t copied_in = Arrive();
  HPU_RETURN_IF_ERROR(AwaitAll(copied_in));
  const absl::Status verdict = CompareRecords(record);
  ++operations_;
  next_piece_ = (next_piece_ + (verdict.ok() ? steps.chunks() : 1)) % kCollectivePieces;
  HPU_RETURN_IF_ERROR(verdict);
  for (uint64_t chunk = 0; chunk < steps.chunks(); ++chunk) {
    if (chunk > 0) HPU_RETURN_IF_ERROR(AwaitAll(copied_in));
    uint32_t exchanged = copied_in;
    if (steps.exchanges_results()) {
      steps.Exchange(chunk);
      exchanged = Arrive();
    }
    if (chunk + 1 < steps.chunks()) {  // the peers may still use the pieces of `chunk`
      steps.CopyIn(chunk + 1);
      copied_in = Arrive();
    }
    HPU_RETURN_IF_ERROR(AwaitAll(exchanged));
    steps.CopyOut(chunk);
  }
  return absl::OkStatus();
}

void PeerGroup::Abort(absl::string_view reason) {
  static_cast<void>(Check());  // the reason of another rank takes precedence
  const std::string text =
      reason.empty() ? absl::StrCat("rank ", rank_, " has aborted the communicator") : std::string(reason);
  End(absl::CancelledError(text), text);
}

absl::Status PeerGroup::Damaged(absl::string_view what) {
  End(absl::InternalError(
          absl::StrCat("the communicator's shared memory is corrupt: invalid ", what, "; create a new communicator")),
      absl::StrCat("rank ", rank_, " found the communicator's shared memory corrupt: invalid ", what));
  return Check();
}

void PeerGroup::End(const absl::Status& error, absl::string_view reason) {
  {
    std::lock_guard<std::mutex> lock(abort_mutex_);
    if (aborted_) return;
    error_ = error;
    aborted_ = true;
    segment_.rank(rank_).reason.Set(reason);
    uint32_t nobody = 0;
    segment_.aborted_by().compare_exchange_strong(nobody, static_cast<uint32_t>(rank_) + 1);
  }
  for (int rank = 0; rank < size_; ++rank) {
    segment_.rank(rank).collective_bell.Ring();
    segment_.rank(rank).transfer_bell.Ring();
  }
}

absl::Status PeerGroup::Check() {
  if (!aborted_) {
    const uint32_t aborted_by = segment_.aborted_by().load();
    if (aborted_by == 0) return absl::OkStatus();
    if (aborted_by > static_cast<uint32_t>(size_)) return Damaged("aborting rank");
    const ReasonRecord reason = Snapshot(segment_.rank(static_cast<int>(aborted_by) - 1).reason);
    if (reason.bytes > ReasonRecord::kMaxBytes) return Damaged("abort reason");
    const std::string text = reason.Text();
    End(absl::CancelledError(text), text);
  }
  std::lock_guard<std::mutex> lock(abort_mutex_);
  return error_;
}

}  // namespace hpu::peers
