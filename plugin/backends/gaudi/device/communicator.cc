#include "plugin/backends/gaudi/device/communicator.h"

#include <chrono>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/backends/gaudi/device/device.h"
#include "plugin/backends/gaudi/device/hccl_types.h"
#include "plugin/backends/gaudi/device/process_rendezvous.h"
#include "plugin/backends/gaudi/device/stream.h"
#include "plugin/backends/gaudi/hccl/status.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/status_payloads.h"
#include "plugin/base/version/contact.h"

namespace hpu::gaudi {
namespace {

// Polling interval of waits that an abort ends.
constexpr std::chrono::milliseconds kTurnPoll{50};

const char* CollectiveName(common::Collective::Kind kind) {
  switch (kind) {
    case common::Collective::Kind::kAllReduce:
      return "AllReduce";
    case common::Collective::Kind::kReduceScatter:
      return "ReduceScatter";
    case common::Collective::Kind::kAllGather:
      return "AllGather";
    case common::Collective::Kind::kBroadcast:
      return "Broadcast";
  }
  return "collective";
}

// Rank 0's shared memory, and the connections to the ranks to watch. `connections` is null with options.rendezvous.
struct Rendezvous {
  std::unique_ptr<files::SharedMemory> segment;
  std::unique_ptr<ProcessRendezvous> connections;
};

absl::StatusOr<Rendezvous> Meet(const hal::CommunicatorOptions& options) {
  Rendezvous result;
  if (options.rendezvous) {
    HPU_ASSIGN_OR_RETURN(const auto own, peers::PeerGroup::CreateSegment(options.size));
    HPU_ASSIGN_OR_RETURN(const int file, options.rendezvous(own->file().get()));
    HPU_ASSIGN_OR_RETURN(result.segment, files::SharedMemory::Open(files::FileDescriptor(file), own->size()));
    return result;
  }
  if (options.rank == 0) {
    HPU_ASSIGN_OR_RETURN(result.segment, peers::PeerGroup::CreateSegment(options.size));
    HPU_ASSIGN_OR_RETURN(result.connections, ProcessRendezvous::Join(options, result.segment.get()));
    return result;
  }
  HPU_ASSIGN_OR_RETURN(const uint64_t bytes, peers::PeerGroup::SegmentBytes(options.size));
  HPU_ASSIGN_OR_RETURN(result.connections, ProcessRendezvous::Join(options, nullptr));
  HPU_ASSIGN_OR_RETURN(result.segment, files::SharedMemory::Open(result.connections->TakeSegment(), bytes));
  return result;
}

// Broadcasts rank 0's HCCL id to all ranks, and joins HCCL's communicator.
absl::StatusOr<std::unique_ptr<HcclCommunicator>> JoinHccl(const hccl::Library& library, peers::PeerGroup& group,
                                                           int rank, int size) {
  hccl::hcclUniqueId id = {};
  if (rank == 0) HPU_RETURN_IF_ERROR(HPU_HCCL_CALL(library.functions(), hcclGetUniqueId, (&id)));
  peers::MappedCollective broadcast;
  broadcast.kind = common::Collective::Kind::kBroadcast;
  broadcast.source = reinterpret_cast<const char*>(&id);
  broadcast.destination = reinterpret_cast<char*>(&id);
  broadcast.elements = hal::Elements(sizeof(id));
  broadcast.dtype = hal::DataType::kUInt8;
  HPU_RETURN_IF_ERROR(group.Run(broadcast));
  return HcclCommunicator::Create(library, id, rank, size);
}

}  // namespace

// One operation. The stream's command owns it.
class GaudiCommunicator::Work final : public CollectiveWork {
 public:
  Work(GaudiCommunicator* communicator, GaudiCommunicator::Submit submit, Compare compare, Lane* lane)
      : communicator_(communicator),
        state_(*communicator->state_),
        submit_(std::move(submit)),
        compare_(std::move(compare)),
        lane_(lane),
        before_(communicator->last_) {
    std::lock_guard<std::mutex> lock(state_.mutex);
    number_ = state_.queued++;
    place_ = lane_->queued++;
    state_.unfinished.insert(number_);
  }

  absl::Status Submit(synapse::synStreamHandle stream) override {
    HPU_RETURN_IF_ERROR(state_.group->Check());
    if (before_ != nullptr && stream != communicator_->last_stream_) HPU_RETURN_IF_ERROR(before_->WaitOn(stream));
    communicator_->last_stream_ = stream;
    HPU_RETURN_IF_ERROR(state_.hccl->Run([&](hccl::hcclComm_t comm) { return submit_(comm, stream); }));
    is_submitted_ = true;
    return absl::OkStatus();
  }

  void SetEnd(std::shared_ptr<Mark> end) override { communicator_->last_ = std::move(end); }

  void AwaitPeers() override {
    const absl::Status turn = communicator_->AwaitTurn(*lane_, place_);
    if (!is_submitted_) return;
    verdict_ = turn.ok() ? compare_(*state_.group) : turn;
    {
      std::lock_guard<std::mutex> lock(state_.mutex);
      ++lane_->compared;
    }
    state_.changed.notify_all();
    if (verdict_.ok()) return;
    // Ranks that call another operation detect the difference themselves. The abort ends the wait of other ranks.
    state_.group->Abort(absl::StrCat("rank ", communicator_->rank(), " failed: ", verdict_.message()));
    communicator_->EndAfterEarlier(number_);
  }

  absl::Status Conclude(const absl::Status& status) override {
    const absl::Status error = ErrorOf(status);
    std::lock_guard<std::mutex> lock(state_.mutex);
    state_.unfinished.erase(number_);
    state_.changed.notify_all();  // under the lock: the destructor may be waiting
    return error;
  }

 private:
  // The stream's error. An operation that fails on one rank ends HCCL's communicator on all ranks.
  absl::Status ErrorOf(const absl::Status& status) {
    if (!verdict_.ok()) return verdict_;
    const bool was_aborted = state_.hccl->is_aborted();
    if (status.ok() && !was_aborted) return status;
    if (const absl::Status ended = state_.group->Check(); !ended.ok()) {
      state_.hccl->Abort();
      return ended;
    }
    absl::Status error = status;
    if (const absl::Status known = state_.hccl->AsyncError(); !known.ok()) {
      error = Reworded(known, absl::StrCat(known.message(), "; ", status.message()));
    }
    // HCCL does not say which rank has ended; the abort of the group names the rank.
    if (absl::IsCancelled(error) && state_.AwaitEnd()) return state_.group->Check();
    state_.group->Abort(absl::StrCat("rank ", communicator_->rank(), " failed: ", error.message()));
    state_.hccl->Abort();
    return error;
  }

  GaudiCommunicator* const communicator_;
  State& state_;
  const GaudiCommunicator::Submit submit_;
  const Compare compare_;
  Lane* const lane_;
  const std::shared_ptr<Mark> before_;  // kept until the stream has waited for it
  uint64_t number_ = 0;                 // of the communicator's operations
  uint64_t place_ = 0;                  // in the lane
  bool is_submitted_ = false;
  absl::Status verdict_;  // of AwaitPeers
};

absl::StatusOr<std::unique_ptr<hal::Communicator>> GaudiCommunicator::Create(GaudiDevice* device,
                                                                             const hccl::Library& library,
                                                                             synapse::Generation generation,
                                                                             const hal::CommunicatorOptions& options) {
  if (options.size < 1 || options.rank < 0 || options.rank >= options.size) {
    return absl::InvalidArgumentError(absl::StrCat("there is no rank ", options.rank, " in a communicator of ",
                                                   options.size, " ranks; ranks count from 0"));
  }
  HPU_ASSIGN_OR_RETURN(Rendezvous rendezvous, Meet(options));
  auto state = std::make_unique<State>();
  HPU_ASSIGN_OR_RETURN(state->group,
                       peers::PeerGroup::Attach(std::move(rendezvous.segment), options.rank, options.size));
  State* const borrowed = state.get();
  state->watch = std::make_unique<RankWatch>(*state->group, std::move(rendezvous.connections), [borrowed] {
    std::unique_lock<std::mutex> lock(borrowed->mutex);
    HcclCommunicator* const hccl = borrowed->hccl.get();
    lock.unlock();
    if (hccl != nullptr) hccl->Abort();
  });
  auto joined = JoinHccl(library, *state->group, options.rank, options.size);
  if (!joined.ok()) {
    state->group->Abort(absl::StrCat("rank ", options.rank, " could not join: ", joined.status().message()));
    return joined.status();
  }
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    state->hccl = *std::move(joined);
  }
  return std::unique_ptr<hal::Communicator>(
      new GaudiCommunicator(device, generation, std::move(state), options.rank, options.size));
}

GaudiCommunicator::GaudiCommunicator(GaudiDevice* device, synapse::Generation generation, std::unique_ptr<State> state,
                                     int rank, int size)
    : CheckedCommunicator(device->liveness(), device->memory(), rank, size),
      device_(device),
      generation_(generation),
      state_(std::move(state)) {}

GaudiCommunicator::~GaudiCommunicator() {
  if (device_->liveness().forked()) {
    static_cast<void>(state_.release());
    return;
  }
  {
    std::unique_lock<std::mutex> lock(state_->mutex);
    state_->changed.wait(lock, [this] { return state_->unfinished.empty(); });
  }
  state_->group->Abort(absl::StrCat("rank ", rank(), " has left the communicator; see the messages of rank ", rank()));
}

void GaudiCommunicator::Abort(absl::string_view reason) {
  if (device_->liveness().forked()) return;
  state_->group->Abort(reason);
  state_->hccl->Abort();
}

bool GaudiCommunicator::OwnsStream(const hal::Stream& stream) const {
  const auto* own = dynamic_cast<const GaudiStream*>(&stream);
  return own != nullptr && own->device() == device_;
}

void* GaudiCommunicator::ToCard(hal::DeviceAddress address) const {
  return address == 0 ? nullptr : reinterpret_cast<void*>(device_->ToCard(address));
}

absl::StatusOr<GaudiCommunicator::Submit> GaudiCommunicator::SubmitOf(const common::Collective& collective) const {
  const hccl::Functions& functions = state_->hccl->functions();
  const void* const source = ToCard(collective.source);
  void* const destination = ToCard(collective.destination);
  const uint64_t count = collective.elements.count;
  const MovedType moved = ToMovedType(collective.dtype);
  const uint64_t moved_count = count * moved.multiplier;
  const hccl::hcclRedOp_t op = ToReduction(collective.op);
  const int root = collective.root;
  switch (collective.kind) {
    case common::Collective::Kind::kAllReduce: {
      HPU_ASSIGN_OR_RETURN(const hccl::hcclDataType_t type, ToReducedType(collective.dtype, generation_, "AllReduce"));
      return [=, &functions](hccl::hcclComm_t comm, synapse::synStreamHandle stream) {
        return HPU_HCCL_CALL(functions, hcclAllReduce, (source, destination, count, type, op, comm, stream),
                             "count=", count, ", type=", static_cast<int>(type), ", op=", static_cast<int>(op));
      };
    }
    case common::Collective::Kind::kReduceScatter: {
      HPU_ASSIGN_OR_RETURN(const hccl::hcclDataType_t type,
                           ToReducedType(collective.dtype, generation_, "ReduceScatter"));
      return [=, &functions](hccl::hcclComm_t comm, synapse::synStreamHandle stream) {
        return HPU_HCCL_CALL(functions, hcclReduceScatter, (source, destination, count, type, op, comm, stream),
                             "count=", count, ", type=", static_cast<int>(type), ", op=", static_cast<int>(op));
      };
    }
    case common::Collective::Kind::kAllGather:
      return [=, &functions](hccl::hcclComm_t comm, synapse::synStreamHandle stream) {
        return HPU_HCCL_CALL(functions, hcclAllGather, (source, destination, moved_count, moved.type, comm, stream),
                             "count=", moved_count, ", type=", static_cast<int>(moved.type));
      };
    case common::Collective::Kind::kBroadcast:
      return [=, &functions](hccl::hcclComm_t comm, synapse::synStreamHandle stream) {
        // HCCL requires an address on every rank.
        const void* const send = source == nullptr ? destination : source;
        return HPU_HCCL_CALL(functions, hcclBroadcast, (send, destination, moved_count, moved.type, root, comm, stream),
                             "count=", moved_count, ", type=", static_cast<int>(moved.type), ", root=", root);
      };
  }
  return absl::InternalError(
      absl::StrCat("invalid kind of collective: ", static_cast<int>(collective.kind), "; " HPU_REPORT_BUG));
}

void GaudiCommunicator::QueueWork(hal::Stream& stream, Lane* lane, Submit submit, Compare compare, const char* name,
                                  uint64_t bytes) {
  auto work = std::make_shared<Work>(this, std::move(submit), std::move(compare), lane);
  static_cast<GaudiStream&>(stream).RunCollective(std::move(work), name, bytes);
}

absl::Status GaudiCommunicator::Queue(hal::Stream& stream, const common::Collective& collective) {
  HPU_ASSIGN_OR_RETURN(Submit submit, SubmitOf(collective));
  if (collective.elements.count == 0) {
    submit = [](hccl::hcclComm_t, synapse::synStreamHandle) { return absl::OkStatus(); };
  }
  const peers::MappedCollective request = {collective.kind,  nullptr,       nullptr,        collective.elements,
                                           collective.dtype, collective.op, collective.root};
  const Compare compare = [request](peers::PeerGroup& group) { return group.Compare(request); };
  const uint64_t bytes = collective.elements.count * hal::SizeOf(collective.dtype);
  QueueWork(stream, &state_->collectives, std::move(submit), compare, CollectiveName(collective.kind), bytes);
  return absl::OkStatus();
}

absl::Status GaudiCommunicator::Queue(hal::Stream& stream, std::vector<common::Transfer> transfers) {
  std::vector<peers::Transfer> requests;
  uint64_t bytes = 0;
  for (const common::Transfer& transfer : transfers) {
    requests.push_back({transfer.sends, transfer.peer, nullptr, transfer.elements, transfer.dtype});
    bytes += transfer.elements.count * hal::SizeOf(transfer.dtype);
  }
  const Compare compare = [requests](peers::PeerGroup& group) { return group.Exchange(requests); };
  const Submit submit = [this, transfers](hccl::hcclComm_t comm, synapse::synStreamHandle stream) -> absl::Status {
    const hccl::Functions& functions = state_->hccl->functions();
    HPU_RETURN_IF_ERROR(HPU_HCCL_CALL(functions, hcclGroupStart, ()));
    absl::Status status;
    for (const common::Transfer& transfer : transfers) {
      const MovedType moved = ToMovedType(transfer.dtype);
      const uint64_t count = transfer.elements.count * moved.multiplier;
      if (count == 0) continue;
      void* const data = ToCard(transfer.address);
      const int peer = transfer.peer;
      status.Update(transfer.sends
                        ? HPU_HCCL_CALL(functions, hcclSend, (data, count, moved.type, peer, comm, stream),
                                        "count=", count, ", type=", static_cast<int>(moved.type), ", peer=", peer)
                        : HPU_HCCL_CALL(functions, hcclRecv, (data, count, moved.type, peer, comm, stream),
                                        "count=", count, ", type=", static_cast<int>(moved.type), ", peer=", peer));
    }
    status.Update(HPU_HCCL_CALL(functions, hcclGroupEnd, (), "transfers=", transfers.size()));
    return status;
  };
  QueueWork(stream, &state_->transfers, submit, compare, "transfer", bytes);
  return absl::OkStatus();
}

bool GaudiCommunicator::State::AwaitEnd() {
  for (int i = 0; i < 10 && group->Check().ok(); ++i) std::this_thread::sleep_for(kTurnPoll);
  return !group->Check().ok();
}

absl::Status GaudiCommunicator::AwaitTurn(const Lane& lane, uint64_t number) {
  std::unique_lock<std::mutex> lock(state_->mutex);
  while (lane.compared != number) {
    HPU_RETURN_IF_ERROR(state_->group->Check());
    state_->changed.wait_for(lock, kTurnPoll);
  }
  return absl::OkStatus();
}

void GaudiCommunicator::EndAfterEarlier(uint64_t number) {
  {
    std::unique_lock<std::mutex> lock(state_->mutex);
    while (*state_->unfinished.begin() < number && !state_->hccl->is_aborted()) {
      state_->changed.wait_for(lock, kTurnPoll);
    }
  }
  state_->hccl->Abort();
}

}  // namespace hpu::gaudi
