#include "plugin/backends/common/peers/peer_communicator.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/backends/common/peers/reduction.h"
#include "plugin/base/random_id.h"
#include "plugin/base/status_macros.h"

namespace hpu::peers {

namespace {

// Polling interval for an abort while an operation waits for earlier operations.
constexpr std::chrono::milliseconds kPoll{50};

// Device memory that `rank` reads.
Operand SourceOf(const common::Collective& collective, int rank, int size) {
  const uint64_t bytes = collective.elements.count * hal::SizeOf(collective.dtype);
  switch (collective.kind) {
    case MappedCollective::Kind::kReduceScatter:
      return {collective.source, bytes * size, /*is_written=*/false};
    case MappedCollective::Kind::kBroadcast:
      return {collective.source, rank == collective.root ? bytes : 0, /*is_written=*/false};
    default:
      return {collective.source, bytes, /*is_written=*/false};
  }
}

// Device memory that a rank writes.
Operand DestinationOf(const common::Collective& collective, int size) {
  const uint64_t bytes = collective.elements.count * hal::SizeOf(collective.dtype);
  const bool gathers = collective.kind == MappedCollective::Kind::kAllGather;
  return {collective.destination, gathers ? bytes * size : bytes, /*is_written=*/true};
}

}  // namespace

std::string PeerCommunicator::NewId() {
  static const auto* process = new std::string(RandomId());
  return absl::StrCat(*process, ":", RandomId());
}

absl::StatusOr<std::unique_ptr<hal::Communicator>> PeerCommunicator::Create(PeerDevice& device,
                                                                            const common::Liveness& liveness,
                                                                            const common::DeviceMemory& memory,
                                                                            const hal::CommunicatorOptions& options) {
  if (options.size < 1 || options.rank < 0 || options.rank >= options.size) {
    return absl::InvalidArgumentError(absl::StrCat("there is no rank ", options.rank, " in a communicator of ",
                                                   options.size, " ranks; ranks count from 0"));
  }
  std::shared_ptr<LocalRendezvous> rendezvous;
  std::unique_ptr<files::SharedMemory> segment;
  if (options.rendezvous) {
    HPU_ASSIGN_OR_RETURN(const auto own, PeerGroup::CreateSegment(options.size));
    HPU_ASSIGN_OR_RETURN(const int file, options.rendezvous(own->file().get()));
    HPU_ASSIGN_OR_RETURN(segment, files::SharedMemory::Open(files::FileDescriptor(file), own->size()));
  } else {
    HPU_ASSIGN_OR_RETURN(rendezvous, LocalRendezvous::Find(options.id, options.size));
    HPU_ASSIGN_OR_RETURN(segment, rendezvous->Join(options));
  }
  HPU_ASSIGN_OR_RETURN(auto group, PeerGroup::Attach(std::move(segment), options.rank, options.size));
  HPU_ASSIGN_OR_RETURN(Team team, MeetDevices(device, *group, options.rank, options.size));
  return std::unique_ptr<hal::Communicator>(new PeerCommunicator(
      device, liveness, memory, std::move(rendezvous), std::move(group), std::move(team), options.rank, options.size));
}

absl::StatusOr<PeerCommunicator::Team> PeerCommunicator::MeetDevices(PeerDevice& device, PeerGroup& group, int rank,
                                                                     int size) {
  Team team;
  CollectiveDevice* const own = device.collective_device();
  if (own == nullptr) return team;
  struct Message {
    DeviceMember member;
    uint64_t first_launch = 0;
  };
  Message message;
  message.member = own->member();
  message.first_launch = RandomNumber();
  std::vector<Message> messages(size);
  MappedCollective gather;
  gather.kind = MappedCollective::Kind::kAllGather;
  gather.source = reinterpret_cast<const char*>(&message);
  gather.destination = reinterpret_cast<char*>(messages.data());
  gather.elements = hal::Elements(sizeof(Message));
  gather.dtype = hal::DataType::kUInt8;
  HPU_RETURN_IF_ERROR(group.Run(gather));
  std::vector<DeviceMember> members;
  for (const Message& told : messages) members.push_back(told.member);
  HPU_RETURN_IF_ERROR(own->CheckMembers(members));
  if (members[rank].world == 0) return team;
  for (const DeviceMember& member : members) team.devices.push_back(member.device);
  team.first_launch = messages[0].first_launch;
  return team;
}

PeerCommunicator::PeerCommunicator(PeerDevice& device, const common::Liveness& liveness,
                                   const common::DeviceMemory& memory, std::shared_ptr<LocalRendezvous> rendezvous,
                                   std::unique_ptr<PeerGroup> group, Team team, int rank, int size)
    : CheckedCommunicator(liveness, memory, rank, size),
      device_(device),
      liveness_(liveness),
      rendezvous_(std::move(rendezvous)),
      group_(std::move(group)),
      team_(std::move(team)) {}

PeerCommunicator::~PeerCommunicator() {
  if (liveness_.forked()) return;
  std::unique_lock<std::mutex> lock(mutex_);
  ended_.wait(lock,
              [this] { return collectives_.ended == collectives_.queued && transfers_.ended == transfers_.queued; });
  group_->Abort(absl::StrCat("rank ", rank(), " has left the communicator; see the messages of rank ", rank()));
}

void PeerCommunicator::Abort(absl::string_view reason) { group_->Abort(reason); }

template <typename Work>
absl::Status PeerCommunicator::RunInTurn(Lane* lane, uint64_t number, const absl::Status& before, const Work& work) {
  absl::Status status = before;
  if (before.ok()) {
    status = AwaitTurn(*lane, number);
    if (status.ok()) status = work();
  } else {
    group_->Abort(absl::StrCat("rank ", rank(), " failed: ", before.message()));
  }
  std::lock_guard<std::mutex> lock(mutex_);
  ++lane->ended;
  ended_.notify_all();
  return status;
}

template <typename Work>
void PeerCommunicator::QueueWork(hal::Stream& stream, std::vector<Operand> operands, Lane* lane, Work work) {
  const uint64_t number = NextNumber(lane);
  auto run = [this, lane, number, work = std::move(work)](const absl::Status& before,
                                                          absl::Span<char* const> data) mutable {
    return RunInTurn(lane, number, before, [&] { return work(data); });
  };
  device_.QueueExchange(stream, std::move(operands), std::move(run));
}

uint64_t PeerCommunicator::NextNumber(Lane* lane) {
  std::lock_guard<std::mutex> lock(mutex_);
  return lane->queued++;
}

absl::Status PeerCommunicator::RunOnDevices(DeviceCollective& collective, const MappedCollective& request,
                                            uint64_t number) {
  // A rank that cannot launch must not leave the others waiting: they compare their requests, or their devices wait.
  const auto abort_after = [&](absl::Status status) {
    if (!status.ok()) group_->Abort(absl::StrCat("rank ", rank(), " failed: ", status.message()));
    return status;
  };
  HPU_RETURN_IF_ERROR(abort_after(collective.Prepare()));
  HPU_RETURN_IF_ERROR(group_->Compare(request));
  constexpr uint64_t kMaxId = (uint64_t{1} << 31) - 1;
  const auto id = static_cast<int32_t>(1 + (team_.first_launch % kMaxId + number) % kMaxId);
  HPU_RETURN_IF_ERROR(abort_after(collective.Launch(id)));
  return abort_after(collective.Await([this] { return group_->Check(); }));
}

absl::Status PeerCommunicator::AwaitTurn(const Lane& lane, uint64_t number) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (lane.ended != number) {
    HPU_RETURN_IF_ERROR(group_->Check());
    ended_.wait_for(lock, kPoll);
  }
  return absl::OkStatus();
}

absl::Status PeerCommunicator::Queue(hal::Stream& stream, const common::Collective& collective) {
  const bool reduces = collective.kind == MappedCollective::Kind::kAllReduce ||
                       collective.kind == MappedCollective::Kind::kReduceScatter;
  if (reduces && !IsReducible(collective.dtype)) {
    return absl::InvalidArgumentError(
        absl::StrCat(collective.kind == MappedCollective::Kind::kAllReduce ? "AllReduce" : "ReduceScatter",
                     " does not support elements of ", hal::NameOf(collective.dtype), ": cast them to a real type"));
  }
  MappedCollective mapped = {collective.kind,  nullptr,       nullptr,        collective.elements,
                             collective.dtype, collective.op, collective.root};
  if (!team_.devices.empty() && collective.elements.count > 0) {
    const uint64_t number = NextNumber(&collectives_);
    auto turn = [this, number, request = std::move(mapped)](const absl::Status& before, DeviceCollective* work) {
      return RunInTurn(&collectives_, number, before, [&] { return RunOnDevices(*work, request, number); });
    };
    device_.collective_device()->QueueCollective(stream, collective, SourceOf(collective, rank(), size()),
                                                 DestinationOf(collective, size()), team_.devices, std::move(turn));
    return absl::OkStatus();
  }
  QueueWork(stream, {SourceOf(collective, rank(), size()), DestinationOf(collective, size())}, &collectives_,
            [this, mapped = std::move(mapped)](absl::Span<char* const> data) mutable {
              mapped.source = data[0];
              mapped.destination = data[1];
              return group_->Run(mapped);
            });
  return absl::OkStatus();
}

absl::Status PeerCommunicator::Queue(hal::Stream& stream, std::vector<common::Transfer> transfers) {
  std::vector<Operand> operands;
  std::vector<Transfer> mapped;
  for (const common::Transfer& transfer : transfers) {
    operands.push_back(
        {transfer.address, transfer.elements.count * hal::SizeOf(transfer.dtype), /*is_written=*/!transfer.sends});
    mapped.push_back({transfer.sends, transfer.peer, nullptr, transfer.elements, transfer.dtype});
  }
  QueueWork(stream, std::move(operands), &transfers_,
            [this, mapped = std::move(mapped)](absl::Span<char* const> data) mutable {
              for (size_t i = 0; i < mapped.size(); ++i) mapped[i].data = data[i];
              return group_->Exchange(mapped);
            });
  return absl::OkStatus();
}

}  // namespace hpu::peers
