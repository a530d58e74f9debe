// PeerGroup::Exchange: interleaved sends and receives of one rank.
//
// A receiver announces each transfer, and the sender fills pieces (buffers in the segment) only for announced
// transfers. Therefore the receiver of a filled piece is inside Exchange and reads the piece, even while other
// transfers wait.
#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/backends/common/peers/peer_group.h"
#include "plugin/base/status_macros.h"

namespace hpu::peers {
namespace {

absl::Status Mismatch(int sender, const ElementsRecord& sent, int receiver, const ElementsRecord& received) {
  return absl::InvalidArgumentError(absl::StrCat("rank ", sender, " sends ", sent.Describe(), ", but rank ", receiver,
                                                 " receives ", received.Describe(),
                                                 "; use the same count, data type and shape on both ranks"));
}

}  // namespace

class PeerGroup::TransferLoop {
 public:
  TransferLoop(PeerGroup* group, const std::vector<Transfer>& transfers) : group_(group), segment_(group->segment_) {
    std::map<std::pair<int, bool>, const State*> latest;
    for (const Transfer& transfer : transfers) {
      State& state = states_.emplace_back(transfer);
      const State*& before = latest[{transfer.peer, transfer.sends}];
      state.before = std::exchange(before, &state);
    }
  }

  bool done() const {
    return std::all_of(states_.begin(), states_.end(), [](const State& state) { return state.done; });
  }
  // An error if the segment contains an impossible value, else OK.
  const absl::Status& damage() const { return damage_; }
  // The first error of the transfers, receives before sends.
  absl::Status status() const {
    absl::Status status;
    for (const bool sends : {false, true}) {
      for (const State& state : states_) {
        if (state.transfer.sends == sends) status.Update(state.status);
      }
    }
    return status;
  }

  // Advances each transfer by at most one piece, without waiting. Returns whether any transfer made progress or damage
  // was detected.
  bool Step() {
    bool moved = false;
    for (State& state : states_) {
      if (state.done || (state.before != nullptr && !state.before->done)) continue;
      moved |= state.transfer.sends ? StepSend(state) : StepReceive(state);
      if (!damage_.ok()) return true;
    }
    return moved;
  }

 private:
  struct State {
    explicit State(const Transfer& transfer)
        : transfer(transfer),
          record(ElementsRecord::Of(transfer.elements, transfer.dtype)),
          bytes(transfer.data == nullptr ? 0 : transfer.elements.count * hal::SizeOf(transfer.dtype)) {}

    const Transfer& transfer;
    const ElementsRecord record;
    const uint64_t bytes;
    const State* before = nullptr;  // previous transfer of the same peer and direction, which must end first
    bool begun = false;
    bool filled = false;  // sender: all packets have been offered
    bool done = false;
    uint64_t copied = 0;
    std::deque<int> pieces;  // sender: pieces of the packets in flight
    absl::Status status;
  };

  int rank() const { return group_->rank_; }

  bool Damaged(absl::string_view what, int peer) {
    damage_ = group_->Damaged(absl::StrCat(what, " of rank ", peer));
    return true;
  }

  bool StepSend(State& state) {
    const int peer = state.transfer.peer;
    PairBlock& pair = segment_.pair(rank(), peer);
    PairCounts& counts = group_->sent_[peer];
    bool moved = false;
    if (!state.begun) {
      const uint32_t requested = pair.requested.load() - counts.transfers;
      if (requested == 0) return false;
      if (requested != 1) return Damaged("announced transfer", peer);
      const ElementsRecord received = Snapshot(pair.elements);
      if (!received.IsValid()) return Damaged("announced transfer", peer);
      if (!(received == state.record)) state.status = Mismatch(rank(), state.record, peer, received);
      ++counts.transfers;
      state.begun = moved = true;
    }
    const uint32_t in_flight = counts.packets - pair.consumed.load();
    if (in_flight > state.pieces.size()) return Damaged("received packets", peer);
    for (; state.pieces.size() > in_flight; moved = true) {
      piece_used_[state.pieces.front()] = false;
      state.pieces.pop_front();
    }
    if (!state.filled) moved |= Offer(state, pair, counts);
    state.done = state.filled && state.pieces.empty();
    return moved;
  }

  // Fills and offers one piece, if one is free.
  bool Offer(State& state, PairBlock& pair, PairCounts& counts) {
    const int piece = static_cast<int>(std::find(piece_used_, piece_used_ + kTransferPieces, false) - piece_used_);
    if (piece == kTransferPieces) return false;
    char* const data = segment_.transfer_piece(rank(), piece);
    uint32_t packet = piece;
    if (!state.status.ok()) {
      std::memcpy(data, &state.record, sizeof(state.record));
      packet |= PairBlock::kRefusal;
      state.filled = true;
    } else {
      const uint64_t bytes = std::min(segment_.piece_bytes(), state.bytes - state.copied);
      if (bytes > 0) std::memcpy(data, state.transfer.data + state.copied, bytes);
      state.copied += bytes;
      state.filled = state.copied == state.bytes;
    }
    piece_used_[piece] = true;
    state.pieces.push_back(piece);
    pair.packets[counts.packets % kTransferPieces].store(packet);
    pair.offered.store(++counts.packets);
    segment_.rank(state.transfer.peer).transfer_bell.RingFrom(rank());
    return true;
  }

  bool StepReceive(State& state) {
    const int peer = state.transfer.peer;
    PairBlock& pair = segment_.pair(peer, rank());
    PairCounts& counts = group_->received_[peer];
    Bell& bell = segment_.rank(peer).transfer_bell;
    bool moved = false;
    if (!state.begun) {
      pair.elements = state.record;
      pair.requested.store(++counts.transfers);
      bell.RingFrom(rank());
      state.begun = moved = true;
    }
    const uint32_t offered = pair.offered.load() - counts.packets;
    if (offered == 0) return moved;
    if (offered > kTransferPieces) return Damaged("offered packets", peer);
    const uint32_t packet = pair.packets[counts.packets % kTransferPieces].load();
    const bool refuses = (packet & PairBlock::kRefusal) != 0;
    const uint32_t piece = packet & ~PairBlock::kRefusal;
    if (piece >= kTransferPieces) return Damaged("packet", peer);
    const char* const data = segment_.transfer_piece(peer, static_cast<int>(piece));
    if (refuses) {
      const ElementsRecord sent = Snapshot(*reinterpret_cast<const ElementsRecord*>(data));
      if (!sent.IsValid()) return Damaged("sent elements", peer);
      state.status = Mismatch(peer, sent, rank(), state.record);
    } else {
      const uint64_t bytes = std::min(segment_.piece_bytes(), state.bytes - state.copied);
      if (bytes > 0) std::memcpy(state.transfer.data + state.copied, data, bytes);
      state.copied += bytes;
    }
    pair.consumed.store(++counts.packets);
    bell.RingFrom(rank());
    state.done = refuses || state.copied == state.bytes;
    return true;
  }

  PeerGroup* const group_;
  const PeerSegment& segment_;
  std::deque<State> states_;  // one per transfer; addresses are stable
  bool piece_used_[kTransferPieces] = {};
  absl::Status damage_;
};

absl::Status PeerGroup::Exchange(const std::vector<Transfer>& transfers) {
  HPU_RETURN_IF_ERROR(Check());
  for (const Transfer& transfer : transfers) {
    if (transfer.peer >= 0 && transfer.peer < size_ && transfer.peer != rank_) continue;
    return absl::InvalidArgumentError(absl::StrCat("invalid transfer between rank ", rank_, " and rank ", transfer.peer,
                                                   " in a communicator of ", size_,
                                                   " ranks; the peer must be another rank"));
  }
  TransferLoop loop(this, transfers);
  Bell& bell = segment_.rank(rank_).transfer_bell;
  while (!loop.done()) {
    HPU_RETURN_IF_ERROR(Await(bell, Bell::kAnyRank, transfer_spin_, [&] { return loop.Step(); }));
    HPU_RETURN_IF_ERROR(loop.damage());
  }
  return loop.status();
}

}  // namespace hpu::peers
