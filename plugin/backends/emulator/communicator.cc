#include "plugin/backends/emulator/communicator.h"

#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/backends/emulator/device.h"
#include "plugin/backends/emulator/share.h"
#include "plugin/backends/emulator/stream.h"
#include "plugin/hal/status_macros.h"

namespace hpu::emulator {

namespace {

std::string RandomName() {
  std::random_device random;
  std::string name;
  for (int i = 0; i < 4; ++i) absl::StrAppend(&name, absl::Hex(random(), absl::kZeroPad8));
  return name;
}

}  // namespace

std::string EmulatorCommunicator::NewId() {
  static const auto* process = new std::string(RandomName());
  return absl::StrCat(*process, ":", RandomName());
}

absl::StatusOr<std::unique_ptr<hal::Communicator>> EmulatorCommunicator::Create(
    const EmulatorDevice* device, const hal::CommunicatorOptions& options) {
  if (options.size < 1 || options.rank < 0 || options.rank >= options.size) {
    return absl::InvalidArgumentError(absl::StrCat("rank ", options.rank, " of ", options.size));
  }
  HPU_ASSIGN_OR_RETURN(std::shared_ptr<Meeting> meeting, Meeting::Find(options.id, options.size));
  HPU_RETURN_IF_ERROR(meeting->Join(options));
  return std::unique_ptr<hal::Communicator>(
      new EmulatorCommunicator(device, std::move(meeting), options.rank, options.size));
}

EmulatorCommunicator::EmulatorCommunicator(const EmulatorDevice* device, std::shared_ptr<Meeting> meeting, int rank,
                                           int size)
    : CheckedCommunicator(device->liveness(), device->memory(), rank, size),
      device_(device),
      meeting_(std::move(meeting)) {}

EmulatorCommunicator::~EmulatorCommunicator() {
  if (device_->liveness().forked()) return;
  std::unique_lock<std::mutex> lock(mutex_);
  ended_.wait(lock, [this] { return queued_ == 0; });
  meeting_->Abort(absl::StrCat("rank ", rank(), " has left the communicator"));
}

void EmulatorCommunicator::Abort() { meeting_->Abort(absl::StrCat("rank ", rank(), " has aborted the communicator")); }

bool EmulatorCommunicator::OwnsStream(const hal::Stream& stream) const {
  const auto* own = dynamic_cast<const EmulatorStream*>(&stream);
  return own != nullptr && own->device() == device_;
}

template <typename Work>
void EmulatorCommunicator::QueueWork(hal::Stream& stream, Work work) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ++queued_;
  }
  static_cast<EmulatorStream&>(stream).Meet([this, work = std::move(work)](const absl::Status& before) {
    absl::Status status = before;
    if (before.ok()) {
      status = work();
    } else {
      meeting_->Abort(absl::StrCat("rank ", rank(), " failed: ", before.message()));
    }
    std::lock_guard<std::mutex> lock(mutex_);
    --queued_;
    ended_.notify_all();
    return status;
  });
}

absl::Status EmulatorCommunicator::Queue(hal::Stream& stream, const common::Collective& collective) {
  const bool reduces = collective.kind == Part::Kind::kAllReduce || collective.kind == Part::Kind::kReduceScatter;
  if (reduces && !IsReducible(collective.dtype)) {
    return absl::InvalidArgumentError(absl::StrCat("a reduction of ", hal::NameOf(collective.dtype)));
  }
  const Part part = {collective.kind,
                     device_->ToData(collective.source),
                     device_->ToData(collective.destination),
                     collective.elements,
                     collective.dtype,
                     collective.op,
                     collective.root};
  QueueWork(stream, [this, part] { return meeting_->Run(rank(), part); });
  return absl::OkStatus();
}

absl::Status EmulatorCommunicator::Queue(hal::Stream& stream, std::vector<common::Transfer> transfers) {
  std::vector<Transfer> parts;
  for (const common::Transfer& transfer : transfers) {
    parts.push_back(
        {transfer.sends, transfer.peer, device_->ToData(transfer.address), transfer.elements, transfer.dtype});
  }
  QueueWork(stream, [this, parts = std::move(parts)] { return meeting_->Exchange(rank(), parts); });
  return absl::OkStatus();
}

}  // namespace hpu::emulator
