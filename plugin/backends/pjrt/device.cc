#include "plugin/backends/pjrt/device.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/backends/common/point_event.h"
#include "plugin/backends/pjrt/collective_programs.h"
#include "plugin/backends/pjrt/recipe.h"
#include "plugin/backends/pjrt/stream.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/status_macros.h"

namespace hpu::pjrt {

PjrtDevice::State::State(PjrtDevice* device, std::unique_ptr<Client> owned_client, std::shared_ptr<World> shared_world,
                         std::unique_ptr<common::Reservation> reservation, common::Faults owned_faults)
    : client(std::move(owned_client)),
      world(std::move(shared_world)),
      contents(*client, flags::PjrtDonation()),
      memory(std::move(reservation), device->liveness_,
             [this](hal::DeviceAddress address, uint64_t bytes) { contents.Erase(address, bytes); }),
      host(device->liveness_),
      faults(std::move(owned_faults)) {}

PjrtDevice::PjrtDevice(hal::DeviceInfo info, std::optional<common::ModuleLock> lock, std::unique_ptr<Client> client,
                       std::shared_ptr<World> world, std::unique_ptr<JobRendezvous> job,
                       std::unique_ptr<common::Reservation> reservation, common::Faults faults)
    : info_(std::move(info)), lock_(std::move(lock)), job_(std::move(job)) {
  state_ =
      std::make_unique<State>(this, std::move(client), std::move(world), std::move(reservation), std::move(faults));
  if (lock_.has_value() && state_->client->memory_stats().ok()) state_->publisher.emplace(*state_->client, *lock_);
}

PjrtDevice::~PjrtDevice() {
  if (liveness_.forked()) static_cast<void>(state_.release());
}

hal::DeviceUsage PjrtDevice::usage() const {
  const auto stats = state_->client->memory_stats();
  hal::DeviceUsage usage;
  if (stats.ok()) {
    usage.memory_bytes = stats->in_use;
    usage.library_peak = stats->peak;
    usage.library_limit = stats->limit;
    usage.library_largest_free_block = stats->largest_free_block;
    usage.library_pool = stats->pool;
    usage.library_allocations = stats->allocations;
  }
  usage.buffers = state_->contents.live_handles();
  const DeviceContents::Donations donations = state_->contents.donations();
  usage.donated_arguments = donations.donated;
  usage.kept_arguments = donations.kept;
  return usage;
}

absl::StatusOr<std::unique_ptr<hal::Memory>> PjrtDevice::AllocateMemory(uint64_t bytes) {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  HPU_RETURN_IF_ERROR(state_->faults.Count(common::Faults::kAllocate));
  return state_->memory.Allocate(bytes);
}

absl::StatusOr<std::unique_ptr<hal::HostBuffer>> PjrtDevice::AllocateHost(uint64_t bytes) {
  return state_->host.Allocate(bytes);
}

absl::StatusOr<std::unique_ptr<hal::HostBuffer>> PjrtDevice::MapHost(void* data, uint64_t bytes) {
  return state_->host.Map(data, bytes);
}

absl::StatusOr<std::unique_ptr<hal::Stream>> PjrtDevice::CreateStream(hal::StreamKind kind) {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  return std::make_unique<PjrtStream>(this, kind);
}

absl::StatusOr<std::unique_ptr<hal::Event>> PjrtDevice::CreateEvent() {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  return std::make_unique<common::PointEvent>(liveness_);
}

absl::StatusOr<std::shared_ptr<const hal::Recipe>> PjrtDevice::Compile(const hal::Program& program) {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  HPU_RETURN_IF_ERROR(state_->faults.Count(common::Faults::kCompile));
  return PjrtRecipe::Compile(*state_->client, info_.compiler_target, program);
}

absl::StatusOr<std::shared_ptr<const hal::Recipe>> PjrtDevice::LoadRecipe(absl::string_view name,
                                                                          absl::string_view bytes) {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  return PjrtRecipe::Load(*state_->client, info_.compiler_target, name, bytes);
}

absl::Status PjrtDevice::CheckCanExchange() const {
  const Plugin& plugin = state_->client->plugin();
  if (plugin.Has(&PJRT_Api::PJRT_Client_CreateBuffersForAsyncHostToDevice)) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("collective operations are not supported: the PJRT plugin ", plugin.path(),
                   " lacks PJRT_Client_CreateBuffersForAsyncHostToDevice; install another plugin release"));
}

absl::StatusOr<std::string> PjrtDevice::CreateCommunicatorId() {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  HPU_RETURN_IF_ERROR(CheckCanExchange());
  return job_ == nullptr ? peers::PeerCommunicator::NewId() : job_->NewCommunicatorId();
}

absl::StatusOr<std::unique_ptr<hal::Communicator>> PjrtDevice::CreateCommunicator(
    const hal::CommunicatorOptions& options) {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  HPU_RETURN_IF_ERROR(CheckCanExchange());
  hal::CommunicatorOptions with_job = options;
  if (job_ != nullptr && !options.rendezvous) {
    with_job.rendezvous = [&](int segment) { return job_->Meet(options, segment); };
  }
  return peers::PeerCommunicator::Create(*this, liveness_, state_->memory, with_job);
}

absl::Status PjrtDevice::StartRecord(absl::string_view options) {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  std::lock_guard<std::mutex> lock(state_->profiler_mutex);
  if (state_->profiler != nullptr)
    return absl::FailedPreconditionError(
        "cannot start a profile: the device's activity is already being recorded; stop the other profile first");
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<Profiler> profiler, Profiler::Create(state_->client->plugin(), options));
  HPU_RETURN_IF_ERROR(profiler->Start());
  state_->profiler = std::move(profiler);
  return absl::OkStatus();
}

absl::StatusOr<std::string> PjrtDevice::TakeRecord() {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  std::lock_guard<std::mutex> lock(state_->profiler_mutex);
  const std::unique_ptr<Profiler> profiler = std::move(state_->profiler);
  if (profiler == nullptr)
    return absl::FailedPreconditionError(
        "cannot collect a profile: the device's activity is not being recorded; start a profile first");
  HPU_RETURN_IF_ERROR(profiler->Stop());
  return profiler->Collect();
}

bool PjrtDevice::OwnsStream(const hal::Stream& stream) const {
  const auto* own = dynamic_cast<const PjrtStream*>(&stream);
  return own != nullptr && own->device() == this;
}

void PjrtDevice::QueueExchange(hal::Stream& stream, std::vector<peers::Operand> operands, peers::Exchange exchange) {
  static_cast<PjrtStream&>(stream).QueueExchange(operands, std::move(exchange));
}

peers::DeviceMember PjrtDevice::member() const {
  if (state_->world == nullptr) return {};
  return {state_->world->id(), static_cast<uint64_t>(state_->client->device_id())};
}

absl::Status PjrtDevice::CheckMembers(absl::Span<const peers::DeviceMember> members) const {
  for (size_t rank = 1; rank < members.size(); ++rank) {
    if (members[rank].world == members[0].world) continue;
    const bool differ = members[rank].world == 0 || members[0].world == 0;
    return absl::FailedPreconditionError(absl::StrCat(
        "cannot create the communicator: ranks 0 and ", rank, " cannot run collectives together, because ",
        differ ? "HPU_PJRT_COLLECTIVES differs between them; set it to the same value on every rank"
               : "their PJRT clients were created in different jobs; start the ranks with one hpu run, or set "
                 "HPU_PJRT_COLLECTIVES=host on every rank"));
  }
  return absl::OkStatus();
}

void PjrtDevice::QueueCollective(hal::Stream& stream, const common::Collective& collective,
                                 const peers::Operand& source, const peers::Operand& destination,
                                 const std::vector<uint64_t>& devices, peers::CollectiveTurn turn) {
  const auto prepare = [&] {
    DeviceExchange::Program program;
    program.stablehlo = CollectiveProgram(collective, static_cast<int>(devices.size()));
    program.devices.assign(devices.begin(), devices.end());
    const bool is_broadcast = collective.kind == common::Collective::Kind::kBroadcast;
    program.source_bytes = is_broadcast ? destination.bytes : source.bytes;
    return state_->contents.Collective(*state_->world, std::move(program), source, destination);
  };
  static_cast<PjrtStream&>(stream).QueueCollective(prepare, std::move(turn));
}

absl::Status PjrtDevice::Synchronize() {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  {
    std::lock_guard<std::mutex> lock(state_->streams_mutex);
    for (PjrtStream* stream : state_->streams) stream->WaitForWork();
  }
  return liveness_.Check();
}

void PjrtDevice::RangeFreed(hal::DeviceAddress address, uint64_t bytes) {
  if (!liveness_.forked()) state_->contents.Erase(address, bytes);
}

void PjrtDevice::AddStream(PjrtStream* stream) {
  std::lock_guard<std::mutex> lock(state_->streams_mutex);
  state_->streams.push_back(stream);
}

void PjrtDevice::RemoveStream(PjrtStream* stream) {
  std::lock_guard<std::mutex> lock(state_->streams_mutex);
  state_->streams.erase(std::find(state_->streams.begin(), state_->streams.end(), stream));
}

}  // namespace hpu::pjrt
