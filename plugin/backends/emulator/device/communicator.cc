#include "plugin/backends/emulator/device/communicator.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/backends/emulator/device/device.h"
#include "plugin/backends/emulator/device/reduction.h"
#include "plugin/backends/emulator/device/stream.h"
#include "plugin/base/random_id.h"
#include "plugin/base/status_macros.h"

namespace hpu::emulator {

namespace {

// How often an operation that waits for earlier operations checks whether the communicator was aborted.
constexpr std::chrono::milliseconds kPoll{50};

}  // namespace

std::string EmulatorCommunicator::NewId() {
  static const auto* process = new std::string(RandomId());
  return absl::StrCat(*process, ":", RandomId());
}

absl::StatusOr<std::unique_ptr<hal::Communicator>> EmulatorCommunicator::Create(
    const EmulatorDevice* device, const hal::CommunicatorOptions& options) {
  if (options.size < 1 || options.rank < 0 || options.rank >= options.size) {
    return absl::InvalidArgumentError(absl::StrCat("there is no rank ", options.rank, " in a communicator of ",
                                                   options.size, " ranks; ranks count from 0"));
  }
  std::shared_ptr<LocalRendezvous> rendezvous;
  std::unique_ptr<files::SharedMemory> segment;
  if (options.meet) {
    HPU_ASSIGN_OR_RETURN(const auto own, PeerGroup::CreateSegment(options.size));
    HPU_ASSIGN_OR_RETURN(const int file, options.meet(own->file().get()));
    HPU_ASSIGN_OR_RETURN(segment, files::SharedMemory::Open(files::FileDescriptor(file), own->size()));
  } else {
    HPU_ASSIGN_OR_RETURN(rendezvous, LocalRendezvous::Find(options.id, options.size));
    HPU_ASSIGN_OR_RETURN(segment, rendezvous->Join(options));
  }
  HPU_ASSIGN_OR_RETURN(auto group, PeerGroup::Attach(std::move(segment), options.rank, options.size));
  return std::unique_ptr<hal::Communicator>(
      new EmulatorCommunicator(device, std::move(rendezvous), std::move(group), options.rank, options.size));
}

EmulatorCommunicator::EmulatorCommunicator(const EmulatorDevice* device, std::shared_ptr<LocalRendezvous> rendezvous,
                                           std::unique_ptr<PeerGroup> group, int rank, int size)
    : CheckedCommunicator(device->liveness(), device->memory(), rank, size),
      device_(device),
      rendezvous_(std::move(rendezvous)),
      group_(std::move(group)) {}

EmulatorCommunicator::~EmulatorCommunicator() {
  if (device_->liveness().forked()) return;
  std::unique_lock<std::mutex> lock(mutex_);
  ended_.wait(lock,
              [this] { return collectives_.ended == collectives_.queued && transfers_.ended == transfers_.queued; });
  group_->Abort(absl::StrCat("rank ", rank(), " has left the communicator"));
}

void EmulatorCommunicator::Abort(absl::string_view reason) { group_->Abort(reason); }

bool EmulatorCommunicator::OwnsStream(const hal::Stream& stream) const {
  const auto* own = dynamic_cast<const EmulatorStream*>(&stream);
  return own != nullptr && own->device() == device_;
}

template <typename Work>
void EmulatorCommunicator::QueueWork(hal::Stream& stream, Lane* lane, Work work) {
  uint64_t number = 0;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    number = lane->queued++;
  }
  auto run = [this, lane, number, work = std::move(work)](const absl::Status& before) {
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
  };
  static_cast<EmulatorStream&>(stream).QueueExchange(std::move(run));
}

absl::Status EmulatorCommunicator::AwaitTurn(const Lane& lane, uint64_t number) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (lane.ended != number) {
    HPU_RETURN_IF_ERROR(group_->Check());
    ended_.wait_for(lock, kPoll);
  }
  return absl::OkStatus();
}

absl::Status EmulatorCommunicator::Queue(hal::Stream& stream, const common::Collective& collective) {
  const bool reduces = collective.kind == Part::Kind::kAllReduce || collective.kind == Part::Kind::kReduceScatter;
  if (reduces && !IsReducible(collective.dtype)) {
    return absl::InvalidArgumentError(
        absl::StrCat(collective.kind == Part::Kind::kAllReduce ? "AllReduce" : "ReduceScatter",
                     " does not support elements of ", hal::NameOf(collective.dtype), ": cast them to a real type"));
  }
  const Part part = {collective.kind,
                     device_->ToData(collective.source),
                     device_->ToData(collective.destination),
                     collective.elements,
                     collective.dtype,
                     collective.op,
                     collective.root};
  QueueWork(stream, &collectives_, [this, part] { return group_->Run(part); });
  return absl::OkStatus();
}

absl::Status EmulatorCommunicator::Queue(hal::Stream& stream, std::vector<common::Transfer> transfers) {
  std::vector<Transfer> parts;
  for (const common::Transfer& transfer : transfers) {
    parts.push_back(
        {transfer.sends, transfer.peer, device_->ToData(transfer.address), transfer.elements, transfer.dtype});
  }
  QueueWork(stream, &transfers_, [this, parts = std::move(parts)] { return group_->Exchange(parts); });
  return absl::OkStatus();
}

}  // namespace hpu::emulator
