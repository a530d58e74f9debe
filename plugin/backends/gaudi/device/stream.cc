#include "plugin/backends/gaudi/device/stream.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/backends/common/point_event.h"
#include "plugin/backends/common/signal_mask.h"
#include "plugin/backends/gaudi/device/device.h"
#include "plugin/base/status_macros.h"

namespace hpu::gaudi {
namespace {

using common::Faults;
using synapse::Engine;

Engine FirstEngine(hal::StreamKind kind) {
  switch (kind) {
    case hal::StreamKind::kCompute:
      return Engine::kCompute;
    case hal::StreamKind::kHostToDevice:
      return Engine::kHostToDevice;
    case hal::StreamKind::kDeviceToHost:
      return Engine::kDeviceToHost;
  }
  return Engine::kCompute;
}

// Repeats a call of SynapseAI while its queues are full (synBusy), for at most ten seconds.
template <typename Call>
absl::Status CallWhenFree(const Call& call) {
  constexpr auto kPause = std::chrono::microseconds(50);
  constexpr auto kMaxWait = std::chrono::seconds(10);
  const auto end = std::chrono::steady_clock::now() + kMaxWait;
  absl::Status status = call();
  while (absl::IsUnavailable(status) && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(kPause);
    status = call();
  }
  return status;
}

absl::Status OfLaunch(const hal::Recipe& recipe, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat("launch of ", recipe.name(), ": ", status.message()));
}

// `status` with the work that it is about.
absl::Status OfWork(const Command& command, const absl::Status& status) {
  if (command.recipe != nullptr) return OfLaunch(*command.recipe, status);
  return absl::Status(status.code(), absl::StrCat(command.name, " of ", command.bytes, " bytes: ", status.message()));
}

}  // namespace

GaudiStream::State::State(const GaudiDevice& device, hal::StreamKind kind)
    : timeline(std::make_shared<common::Timeline>()),
      queue(timeline),
      marks(std::make_shared<MarkPool>(device.functions(), device.id())),
      engines(device.library(), device.id(), FirstEngine(kind)) {}

absl::StatusOr<std::unique_ptr<GaudiStream>> GaudiStream::Create(GaudiDevice* device, hal::StreamKind kind) {
  std::unique_ptr<GaudiStream> stream(new GaudiStream(device, kind));
  HPU_RETURN_IF_ERROR(device->Observe(stream->state_->engines.Current().status()));
  return stream;
}

GaudiStream::GaudiStream(GaudiDevice* device, hal::StreamKind kind)
    : device_(device), kind_(kind), state_(std::make_unique<State>(*device, kind)) {
  device_->AddStream(this);
  const common::ScopedSignalMask mask;
  state_->thread = std::thread([this] { RunCommands(); });
  pthread_setname_np(state_->thread.native_handle(), "hpu_gaudi_strm");
}

GaudiStream::~GaudiStream() {
  if (device_->liveness().forked()) {
    static_cast<void>(state_.release());
    return;
  }
  state_->queue.Push([](Command& command, uint64_t) { command.kind = Command::Kind::kStop; });
  state_->thread.join();
  device_->RemoveStream(this);
}

std::shared_ptr<Mark> GaudiStream::last_mark() const {
  std::lock_guard<std::mutex> lock(state_->mark_mutex);
  return state_->last;
}

common::Point GaudiStream::Now() const {
  common::Point point = state_->error.PointAfter(state_->timeline, state_->queue);
  // After the number of commands: a later mark covers more, an earlier one would cover too little.
  point.mark = last_mark();
  return point;
}

void GaudiStream::CloseEngines() {
  state_->engines.Close();
  std::lock_guard<std::mutex> lock(state_->mark_mutex);
  state_->last.reset();
}

void GaudiStream::FailAtCall(uint64_t sequence, absl::Status status) {
  state_->error.Set(sequence, std::move(status));
  CloseEngines();
}

void GaudiStream::FailAtEnd(uint64_t sequence, absl::Status status) {
  state_->error.Set(sequence, std::move(status));
  state_->is_broken.store(true);
}

void GaudiStream::Repair() {
  if (state_->is_broken.exchange(false)) CloseEngines();
}

absl::Status GaudiStream::MarkEnd(synapse::synStreamHandle stream, Command* command) {
  HPU_ASSIGN_OR_RETURN(std::shared_ptr<Mark> end, state_->marks->Acquire());
  HPU_RETURN_IF_ERROR(CallWhenFree([&] { return end->Record(stream); }));
  command->end = end;
  std::lock_guard<std::mutex> lock(state_->mark_mutex);
  state_->last = std::move(end);
  return absl::OkStatus();
}

template <typename Function>
absl::Status GaudiStream::Submit(Engine engine, const Function& submit, Command* command) {
  Repair();
  command->before = last_mark();
  HPU_ASSIGN_OR_RETURN(const synapse::synStreamHandle stream, state_->engines.For(engine, command->before.get()));
  HPU_RETURN_IF_ERROR(submit(stream));
  return MarkEnd(stream, command);
}

template <typename Function>
void GaudiStream::Run(Faults::Kind kind, Engine engine, const char* name, uint64_t bytes, const Function& submit,
                      std::shared_ptr<const hal::Recipe> recipe) {
  state_->queue.Push([&](Command& command, uint64_t sequence) {
    command.kind = Command::Kind::kNothing;
    if (state_->error.is_set()) return;
    if (absl::Status fault = device_->CountCommand(kind, kind_); !fault.ok()) {
      state_->error.Set(sequence, recipe == nullptr ? std::move(fault) : OfLaunch(*recipe, fault));
      return;
    }
    const absl::Status status = Submit(engine, submit, &command);
    command.kind = Command::Kind::kWork;
    command.name = name;
    command.bytes = bytes;
    command.recipe = std::move(recipe);
    if (!status.ok()) FailAtCall(sequence, OfWork(command, device_->Observe(status)));
  });
}

void GaudiStream::RunCollective(std::shared_ptr<CollectiveWork> work, const char* name, uint64_t bytes) {
  state_->queue.Push([&](Command& command, uint64_t sequence) {
    command.name = name;
    command.bytes = bytes;
    command.collective = std::move(work);
    command.error = state_->error.UpTo(sequence);
    if (!command.error.ok()) {
      command.kind = Command::Kind::kNothing;
      return;
    }
    command.kind = Command::Kind::kWork;
    const auto submit = [&](synapse::synStreamHandle stream) { return command.collective->Submit(stream); };
    command.error = device_->Observe(Submit(Engine::kCollective, submit, &command));
    if (command.error.ok()) {
      command.collective->SetEnd(command.end);
    } else {
      state_->error.Set(sequence, OfWork(command, command.error));  // Conclude says more, but later calls come first
    }
  });
}

absl::Status GaudiStream::CopyPieces(synapse::synStreamHandle stream, const PinnedPages::Pieces& pieces,
                                     uint64_t card_address, bool to_device) {
  for (const PinnedPages::Piece& piece : pieces) {
    const uint64_t source = to_device ? piece.begin : card_address;
    const uint64_t destination = to_device ? card_address : piece.begin;
    HPU_RETURN_IF_ERROR(CallWhenFree([&] {
      return HPU_SYNAPSE_CALL(
          device_->functions(), synMemCopyAsync,
          (stream, source, piece.bytes, destination, to_device ? synapse::HOST_TO_DRAM : synapse::DRAM_TO_HOST),
          "size=", piece.bytes);
    }));
    card_address += piece.bytes;
  }
  return absl::OkStatus();
}

absl::Status GaudiStream::CopyToDevice(const void* source, hal::DeviceAddress destination, uint64_t bytes) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  PinnedPages::Pieces pieces;
  HPU_RETURN_IF_ERROR(device_->Observe(device_->host().Cut(source, bytes, "source of CopyToDevice", &pieces)));
  HPU_RETURN_IF_ERROR(device_->memory().Check(destination, bytes, "destination of CopyToDevice"));
  if (bytes == 0) return absl::OkStatus();
  Run(Faults::kCopy, Engine::kHostToDevice, "CopyToDevice", bytes, [&](synapse::synStreamHandle stream) {
    return CopyPieces(stream, pieces, device_->ToCard(destination), /*to_device=*/true);
  });
  return absl::OkStatus();
}

absl::Status GaudiStream::CopyToHost(hal::DeviceAddress source, void* destination, uint64_t bytes) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  HPU_RETURN_IF_ERROR(device_->memory().Check(source, bytes, "source of CopyToHost"));
  PinnedPages::Pieces pieces;
  HPU_RETURN_IF_ERROR(device_->Observe(device_->host().Cut(destination, bytes, "destination of CopyToHost", &pieces)));
  if (bytes == 0) return absl::OkStatus();
  Run(Faults::kCopy, Engine::kDeviceToHost, "CopyToHost", bytes, [&](synapse::synStreamHandle stream) {
    return CopyPieces(stream, pieces, device_->ToCard(source), /*to_device=*/false);
  });
  return absl::OkStatus();
}

absl::Status GaudiStream::CopyOnDevice(hal::DeviceAddress source, hal::DeviceAddress destination, uint64_t bytes) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  HPU_RETURN_IF_ERROR(device_->memory().Check(source, bytes, "source of CopyOnDevice"));
  HPU_RETURN_IF_ERROR(device_->memory().Check(destination, bytes, "destination of CopyOnDevice"));
  if (bytes == 0) return absl::OkStatus();
  const uint64_t distance = source > destination ? source - destination : destination - source;
  const uint64_t from = device_->ToCard(source);
  const uint64_t to = device_->ToCard(destination);
  Run(Faults::kCopy, Engine::kDeviceToDevice, "CopyOnDevice", bytes, [&](synapse::synStreamHandle stream) {
    return distance < bytes ? CopyOverlapping(stream, from, to, bytes) : CopyOnCard(stream, from, to, bytes);
  });
  return absl::OkStatus();
}

absl::Status GaudiStream::CopyOnCard(synapse::synStreamHandle stream, uint64_t source, uint64_t destination,
                                     uint64_t bytes) {
  return CallWhenFree([&] {
    return HPU_SYNAPSE_CALL(device_->functions(), synMemCopyAsync,
                            (stream, source, bytes, destination, synapse::DRAM_TO_DRAM), "size=", bytes);
  });
}

// SynapseAI does not define copies that overlap themselves, so each part takes a detour through scratch memory. The
// order of the parts keeps the source of the later ones intact.
absl::Status GaudiStream::CopyOverlapping(synapse::synStreamHandle stream, uint64_t source, uint64_t destination,
                                          uint64_t bytes) {
  if (source == destination) return absl::OkStatus();
  if (state_->scratch == nullptr) {
    HPU_ASSIGN_OR_RETURN(state_->scratch, CardRange::Allocate(device_->functions(), device_->id(), kScratchBytes));
  }
  const uint64_t scratch = state_->scratch->address();
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t size = std::min(kScratchBytes, bytes - done);
    const uint64_t offset = destination < source ? done : bytes - done - size;
    HPU_RETURN_IF_ERROR(CopyOnCard(stream, source + offset, scratch, size));
    HPU_RETURN_IF_ERROR(CopyOnCard(stream, scratch, destination + offset, size));
    done += size;
  }
  return absl::OkStatus();
}

absl::Status GaudiStream::Fill(hal::DeviceAddress destination, uint8_t value, uint64_t bytes) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  HPU_RETURN_IF_ERROR(device_->memory().Check(destination, bytes, "destination of Fill"));
  if (bytes == 0) return absl::OkStatus();
  const uint64_t address = device_->ToCard(destination);
  const synapse::Functions& functions = device_->functions();
  constexpr uint32_t kFourTimes = 0x01010101;
  const bool by_words = functions.synMemsetD32Async != nullptr && address % 4 == 0 && bytes % 4 == 0;
  Run(Faults::kFill, Engine::kDeviceToDevice, "Fill", bytes, [&](synapse::synStreamHandle stream) {
    return CallWhenFree([&] {
      return by_words ? HPU_SYNAPSE_CALL(functions, synMemsetD32Async, (address, value * kFourTimes, bytes / 4, stream),
                                         "size=", bytes)
                      : HPU_SYNAPSE_CALL(functions, synMemsetD8Async, (address, value, bytes, stream), "size=", bytes);
    });
  });
  return absl::OkStatus();
}

absl::Status GaudiStream::Launch(std::shared_ptr<const hal::Recipe> recipe, const hal::LaunchArguments& arguments) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  HPU_RETURN_IF_ERROR(device_->memory().CheckLaunch(kind_, recipe.get(), arguments));
  const auto* own = dynamic_cast<const GaudiRecipe*>(recipe.get());
  if (own == nullptr || &own->library() != &device_->library()) {
    return absl::InvalidArgumentError(
        absl::StrCat("launch of ", recipe->name(), ": the recipe was made by another backend"));
  }
  std::lock_guard<std::mutex> lock(state_->launch_mutex);
  LaunchAddresses& addresses = state_->addresses;
  const CompiledGraph* graph = own->graph();
  if (graph != nullptr) {
    HPU_RETURN_IF_ERROR(addresses.Set(*own, arguments));
    addresses.ToCard(device_->card_distance());
    if (!addresses.copies().empty()) HPU_RETURN_IF_ERROR(CopyArguments());
  }
  const uint64_t workspace = own->workspace_bytes() == 0 ? 0 : device_->ToCard(arguments.workspace);
  const auto submit = [&](synapse::synStreamHandle stream) -> absl::Status {
    if (graph == nullptr) return absl::OkStatus();
    return CallWhenFree([&] { return graph->Launch(stream, addresses.addresses(), workspace); });
  };
  Run(Faults::kLaunch, Engine::kCompute, "Launch", 0, submit, std::move(recipe));
  return absl::OkStatus();
}

absl::Status GaudiStream::CopyArguments() {
  LaunchAddresses& addresses = state_->addresses;
  std::vector<std::unique_ptr<CardRange>>& ranges = state_->argument_copies;
  if (ranges.empty() || ranges.back()->bytes() < addresses.copied_bytes()) {
    const uint64_t doubled = ranges.empty() ? 0 : 2 * ranges.back()->bytes();
    HPU_ASSIGN_OR_RETURN(
        std::unique_ptr<CardRange> range,
        CardRange::Allocate(device_->functions(), device_->id(), std::max(addresses.copied_bytes(), doubled)));
    ranges.push_back(std::move(range));
  }
  const uint64_t memory = ranges.back()->address();
  for (const LaunchAddresses::Copy& copy : addresses.copies()) {
    const uint64_t source = device_->ToCard(copy.source);
    Run(Faults::kCopy, Engine::kDeviceToDevice, "copy of an argument", copy.bytes,
        [&](synapse::synStreamHandle stream) { return CopyOnCard(stream, source, memory + copy.offset, copy.bytes); });
  }
  addresses.PlaceCopies(memory);
  return absl::OkStatus();
}

absl::Status GaudiStream::Record(hal::Event& event) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  auto* own = dynamic_cast<common::PointEvent*>(&event);
  if (own == nullptr) return absl::InvalidArgumentError("cannot record the event: it belongs to another backend");
  own->Set(Now());
  return absl::OkStatus();
}

absl::Status GaudiStream::Wait(const hal::Event& event) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  const auto* own = dynamic_cast<const common::PointEvent*>(&event);
  if (own == nullptr) return absl::InvalidArgumentError("cannot wait for the event: it belongs to another backend");
  common::Point point = own->point();
  if (point.timeline == state_->timeline || (point.Reached() && point.Error().ok())) return absl::OkStatus();
  state_->queue.Push([&](Command& command, uint64_t sequence) {
    command.kind = Command::Kind::kWait;
    command.point = std::move(point);
    // An error that is known already stops this stream's later calls.
    if (absl::Status error = command.point.Error(); !error.ok()) state_->error.Set(sequence, std::move(error));
    const auto* mark = dynamic_cast<const Mark*>(command.point.mark.get());
    // Without a mark, only callbacks precede the event, and later work of the device does not depend on them.
    if (state_->error.is_set() || mark == nullptr) return;
    Repair();
    command.before = last_mark();
    const absl::Status status = [&]() -> absl::Status {
      HPU_ASSIGN_OR_RETURN(const synapse::synStreamHandle stream, state_->engines.Current());
      HPU_RETURN_IF_ERROR(CallWhenFree([&] { return mark->WaitOn(stream); }));
      return MarkEnd(stream, &command);
    }();
    if (!status.ok()) FailAtCall(sequence, device_->Observe(status));
  });
  return absl::OkStatus();
}

absl::Status GaudiStream::AddCallback(std::function<void(absl::Status)> callback) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  state_->queue.Push([&](Command& command, uint64_t) {
    command.kind = Command::Kind::kCallback;
    command.point = state_->error.PointAfter(state_->timeline, state_->queue);
    command.callback = std::move(callback);
  });
  return absl::OkStatus();
}

absl::Status GaudiStream::Synchronize() {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  const uint64_t sequence = state_->queue.pushed();
  state_->timeline->WaitFor(sequence);
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  return state_->error.TakeUpTo(sequence);
}

void GaudiStream::RunCommands() {
  for (uint64_t sequence = 1;; ++sequence) {
    Command& command = state_->queue.Await(sequence);
    const bool last = command.kind == Command::Kind::kStop;
    Finish(command, sequence);
    command.Clear();
    state_->timeline->Complete(sequence);
    if (last) return;
  }
}

void GaudiStream::FinishCollective(Command& command, uint64_t sequence) {
  command.collective->AwaitPeers();
  const bool is_queued = command.error.ok();
  const absl::Status end = is_queued ? device_->Observe(command.end->Synchronize()) : command.error;
  const absl::Status status = command.collective->Conclude(end);
  if (command.kind == Command::Kind::kWork && !status.ok()) FailAtEnd(sequence, OfWork(command, status));
}

void GaudiStream::Finish(Command& command, uint64_t sequence) {
  if (command.collective != nullptr) {
    FinishCollective(command, sequence);
    return;
  }
  const absl::Status end = command.end == nullptr ? absl::OkStatus() : device_->Observe(command.end->Synchronize());
  switch (command.kind) {
    case Command::Kind::kNothing:
    case Command::Kind::kStop:
      return;
    case Command::Kind::kWork:
      if (!end.ok()) FailAtEnd(sequence, OfWork(command, end));
      return;
    case Command::Kind::kWait:
      // The error of the awaited work says more than the failure that it caused here.
      if (absl::Status awaited = command.point.Wait(); !awaited.ok()) {
        state_->error.Set(sequence, std::move(awaited));
        if (!end.ok()) state_->is_broken.store(true);
      } else if (!end.ok()) {
        FailAtEnd(sequence, end);
      }
      return;
    case Command::Kind::kCallback:
      command.callback(command.point.Error());
      return;
  }
}

}  // namespace hpu::gaudi
