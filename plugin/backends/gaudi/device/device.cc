#include "plugin/backends/gaudi/device/device.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "plugin/backends/common/acquire_options.h"
#include "plugin/backends/common/point_event.h"
#include "plugin/backends/gaudi/compiler/recipe.h"
#include "plugin/backends/gaudi/device/communicator.h"
#include "plugin/backends/gaudi/device/compiler_target.h"
#include "plugin/backends/gaudi/device/process_rendezvous.h"
#include "plugin/backends/gaudi/device/stream.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/log/log.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/status_payloads.h"

namespace hpu::gaudi {
namespace {

// Bytes of a card for device memory: the free bytes minus TF_HCCL_MEMORY_ALLOWANCE_MB, in units of 2 MiB. At most the
// memory that the options or HPU_MEMORY_MB request.
absl::StatusOr<uint64_t> WindowBytes(const hal::AcquireOptions& options, const CardMemoryInfo& card) {
  constexpr uint64_t kUnit = uint64_t{2} << 20;
  const int64_t allowance_mb = flags::TfHcclMemoryAllowanceMb();
  const uint64_t allowance = static_cast<uint64_t>(allowance_mb) << 20;
  if (card.free_bytes < allowance + kUnit) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the card has no memory for tensors: ", card.free_bytes >> 20, " of ", card.total_bytes >> 20,
                     " MiB are free, and TF_HCCL_MEMORY_ALLOWANCE_MB reserves ", allowance_mb,
                     " MiB; lower this setting, or end other processes on the card"));
  }
  return common::CardMemoryBytes(options, (card.free_bytes - allowance) / kUnit * kUnit);
}

// SynapseAI's name of the device; empty if the release has none.
std::string NameOf(const synapse::Functions& functions, synapse::synDeviceId device) {
  char name[256] = {};
  if (functions.synDeviceGetName == nullptr) return "";
  return functions.synDeviceGetName(name, sizeof(name) - 1, device) == synapse::synSuccess ? name : "";
}

}  // namespace

GaudiDevice::State::State(GaudiDevice* device, std::unique_ptr<AcquiredModule> owned_module,
                          std::unique_ptr<CardRange> owned_range, std::unique_ptr<common::Reservation> reservation,
                          common::Faults owned_faults)
    : module(std::move(owned_module)),
      range(std::move(owned_range)),
      card_distance(range->address() - reservation->base()),
      memory(std::move(reservation), device->liveness_,
             [device](hal::DeviceAddress, uint64_t) { device->WaitForStreams(); }),
      host(module->runtime().functions(), module->device(), device->liveness_),
      faults(std::move(owned_faults)) {}

absl::StatusOr<std::unique_ptr<GaudiDevice>> GaudiDevice::Acquire(Runtime& runtime, const hal::AcquireOptions& options,
                                                                  const std::string& name) {
  HPU_ASSIGN_OR_RETURN(common::Faults faults, common::Faults::Of(options));
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<AcquiredModule> module, AcquiredModule::Acquire(runtime, options));
  const synapse::Library& library = runtime.library();
  HPU_ASSIGN_OR_RETURN(const synapse::DeviceInfo card, library.GetDeviceInfo(module->device()));
  HPU_ASSIGN_OR_RETURN(const CardMemoryInfo memory, GetCardMemoryInfo(library.functions(), module->device()));
  HPU_ASSIGN_OR_RETURN(const uint64_t bytes, WindowBytes(options, memory));
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<CardRange> range,
                       CardRange::AllocateUpTo(library.functions(), module->device(), bytes));
  HPU_ASSIGN_OR_RETURN(auto reservation, common::Reservation::Create(range->bytes(), common::Reservation::Data::kNone));
  hal::DeviceInfo info;
  info.backend = name;
  info.type = absl::AsciiStrToUpper(synapse::GenerationName(card.generation));
  info.module_id = module->module_id();
  info.memory_bytes = range->bytes();
  const std::string device_name = NameOf(library.functions(), module->device());
  info.description = absl::StrCat(info.type, device_name.empty() ? "" : absl::StrCat(" (", device_name, ")"),
                                  ", module ", info.module_id, ", SynapseAI ", library.version());
  HPU_ASSIGN_OR_RETURN(info.compiler_target, CompilerTarget(library, card.generation));
  return std::unique_ptr<GaudiDevice>(new GaudiDevice(std::move(info), card.generation, std::move(module),
                                                      std::move(range), std::move(reservation), std::move(faults)));
}

GaudiDevice::GaudiDevice(hal::DeviceInfo info, synapse::Generation generation, std::unique_ptr<AcquiredModule> module,
                         std::unique_ptr<CardRange> range, std::unique_ptr<common::Reservation> reservation,
                         common::Faults faults)
    : info_(std::move(info)),
      generation_(generation),
      state_(std::make_unique<State>(this, std::move(module), std::move(range), std::move(reservation),
                                     std::move(faults))) {}

GaudiDevice::~GaudiDevice() {
  if (liveness_.forked()) static_cast<void>(state_.release());
}

hal::DeviceUsage GaudiDevice::usage() const {
  hal::DeviceUsage usage;
  if (!liveness_.Check().ok()) return usage;
  const auto card = GetCardMemoryInfo(functions(), id());
  if (!card.ok()) return usage;
  // The card counts the whole window as used. Of the window, only allocated bytes hold data.
  const uint64_t used = card->total_bytes - card->free_bytes;
  usage.memory_bytes = used - std::min(used, state_->memory.info().free_bytes);
  return usage;
}

absl::Status GaudiDevice::Observe(absl::Status status) {
  if (absl::IsAborted(status) && liveness_.Check().ok()) {
    const std::string text = absl::StrCat("the HPU is lost: ", status.message());
    HPU_LOG(kBackend, kCritical) << text;
    liveness_.MarkLost(absl::AbortedError(text));
  }
  return status;
}

absl::StatusOr<std::unique_ptr<hal::Memory>> GaudiDevice::AllocateMemory(uint64_t bytes) {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  HPU_RETURN_IF_ERROR(state_->faults.Count(common::Faults::kAllocate));
  return state_->memory.Allocate(bytes);
}

absl::StatusOr<std::unique_ptr<hal::HostBuffer>> GaudiDevice::AllocateHost(uint64_t bytes) {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  auto buffer = state_->host.Allocate(bytes);
  HPU_RETURN_IF_ERROR(Observe(buffer.status()));
  return buffer;
}

absl::StatusOr<std::unique_ptr<hal::HostBuffer>> GaudiDevice::MapHost(void* data, uint64_t bytes) {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  auto buffer = state_->host.Map(data, bytes);
  HPU_RETURN_IF_ERROR(Observe(buffer.status()));
  return buffer;
}

absl::StatusOr<std::unique_ptr<hal::Stream>> GaudiDevice::CreateStream(hal::StreamKind kind) {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  return GaudiStream::Create(this, kind);
}

absl::StatusOr<std::unique_ptr<hal::Event>> GaudiDevice::CreateEvent() {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  return std::make_unique<common::PointEvent>(liveness_);
}

absl::StatusOr<std::shared_ptr<const hal::Recipe>> GaudiDevice::Compile(const hal::Program& program) {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  HPU_RETURN_IF_ERROR(state_->faults.Count(common::Faults::kCompile));
  auto recipe = GaudiRecipe::Compile(library(), generation_, info_.compiler_target, program);
  if (recipe.ok()) return std::shared_ptr<const hal::Recipe>(*std::move(recipe));
  return Observe(
      Reworded(recipe.status(), absl::StrCat("compilation of ", program.name, ": ", recipe.status().message())));
}

absl::StatusOr<std::shared_ptr<const hal::Recipe>> GaudiDevice::LoadRecipe(absl::string_view name,
                                                                           absl::string_view bytes) {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  auto recipe = GaudiRecipe::Load(library(), info_.compiler_target, name, bytes);
  if (recipe.ok()) return std::shared_ptr<const hal::Recipe>(*std::move(recipe));
  return Observe(recipe.status());
}

absl::StatusOr<std::string> GaudiDevice::CreateCommunicatorId() {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  HPU_RETURN_IF_ERROR(Collectives().status());
  return ProcessRendezvous::NewId();
}

absl::StatusOr<std::unique_ptr<hal::Communicator>> GaudiDevice::CreateCommunicator(
    const hal::CommunicatorOptions& options) {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  HPU_ASSIGN_OR_RETURN(const hccl::Library* collectives, Collectives());
  return GaudiCommunicator::Create(this, *collectives, generation_, options);
}

absl::StatusOr<const hccl::Library*> GaudiDevice::Collectives() {
  std::lock_guard<std::mutex> lock(state_->collectives_mutex);
  if (state_->collectives == nullptr) {
    HPU_ASSIGN_OR_RETURN(state_->collectives, hccl::Library::Open(library().path()));
  }
  return state_->collectives.get();
}

absl::Status GaudiDevice::Synchronize() {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  WaitForStreams();
  return liveness_.Check();
}

void GaudiDevice::AddStream(GaudiStream* stream) {
  std::lock_guard<std::mutex> lock(state_->streams_mutex);
  state_->streams.push_back(stream);
}

void GaudiDevice::RemoveStream(GaudiStream* stream) {
  std::lock_guard<std::mutex> lock(state_->streams_mutex);
  state_->streams.erase(std::find(state_->streams.begin(), state_->streams.end(), stream));
}

void GaudiDevice::WaitForStreams() {
  std::vector<common::Point> ends;
  {
    std::lock_guard<std::mutex> lock(state_->streams_mutex);
    for (const GaudiStream* stream : state_->streams) {
      common::Point end = stream->Now();
      if (!end.Reached()) ends.push_back(std::move(end));
    }
  }
  for (const common::Point& end : ends) static_cast<void>(end.Wait());
}

}  // namespace hpu::gaudi
