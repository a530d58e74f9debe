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
#include "plugin/base/status_payloads.h"

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
  return Reworded(status, absl::StrCat("launch of ", recipe.name(), ": ", status.message()));
}

// `status` with the launch, or with the command's name and bytes, in its text.
absl::Status OfWork(const Command& command, const absl::Status& status) {
  if (command.recipe != nullptr) return OfLaunch(*command.recipe, status);
  return Reworded(status, absl::StrCat(command.name, " of ", command.bytes, " bytes: ", status.message()));
}

// A launch of a recipe without loops. Borrows the addresses; a copied GraphLaunch owns them.
class GraphLaunch {
 public:
  // `graph`: null if the program computes nothing.
  GraphLaunch(const CompiledGraph* graph, const std::vector<uint64_t>* addresses, uint64_t workspace)
      : graph_(graph), addresses_(addresses), workspace_(workspace) {}
  GraphLaunch(const GraphLaunch& other)
      : graph_(other.graph_), owned_(*other.addresses_), addresses_(&owned_), workspace_(other.workspace_) {}
  GraphLaunch& operator=(const GraphLaunch&) = delete;

  absl::Status operator()(synapse::synStreamHandle stream) const {
    if (graph_ == nullptr) return absl::OkStatus();
    return CallWhenFree([&] { return graph_->Launch(stream, *addresses_, workspace_); });
  }

 private:
  const CompiledGraph* const graph_;
  const std::vector<uint64_t> owned_;
  const std::vector<uint64_t>* const addresses_;
  const uint64_t workspace_;
};

// The mark of points that only the host reaches.
class HostDrivenMark final : public common::DeviceMark {};

bool IsHostDriven(const common::Point& point) {
  return dynamic_cast<const HostDrivenMark*>(point.mark.get()) != nullptr;
}

const std::shared_ptr<common::DeviceMark>& HostDriven() {
  static const auto* const mark = new std::shared_ptr<common::DeviceMark>(std::make_shared<HostDrivenMark>());
  return *mark;
}

}  // namespace

// The stream's side of a launch with loops. Used by the stream's thread, which holds the stream.
class GaudiStream::Steps final : public StepQueue {
 public:
  Steps(GaudiStream* stream, Command* command) : stream_(*stream), command_(*command) {}

  absl::Status LaunchGraph(const CompiledGraph& graph, const StepLaunch& launch) override {
    return Submit(Engine::kCompute, [&](synapse::synStreamHandle stream) {
      return CallWhenFree([&] { return graph.Launch(stream, launch.addresses, launch.graph_workspace); });
    });
  }

  absl::StatusOr<uint8_t> ReadByte(uint64_t address) override {
    const volatile auto* byte = static_cast<const uint8_t*>(stream_.state_->predicate->data());
    const auto destination = reinterpret_cast<uint64_t>(byte);
    HPU_RETURN_IF_ERROR(Submit(Engine::kDeviceToHost, [&](synapse::synStreamHandle stream) {
      return stream_.CopyPieces(stream, {PinnedPages::Piece{destination, 1}}, address, /*to_device=*/false);
    }));
    HPU_RETURN_IF_ERROR(Await());
    return *byte;
  }

  absl::Status Await() override {
    if (command_.end != nullptr) HPU_RETURN_IF_ERROR(command_.end->Synchronize());
    command_.awaited.clear();
    return absl::OkStatus();
  }

  absl::Status Check() override { return stream_.device_->liveness().Check(); }

 private:
  template <typename Function>
  absl::Status Submit(Engine engine, const Function& submit) {
    HPU_RETURN_IF_ERROR(stream_.Submit(engine, submit, &command_));
    command_.awaited.push_back(command_.before);
    return absl::OkStatus();
  }

  GaudiStream& stream_;
  Command& command_;
};

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
  // Read after the number of commands: a later mark covers more work, an earlier mark too little.
  std::lock_guard<std::mutex> lock(state_->mark_mutex);
  point.mark = state_->is_held ? HostDriven() : state_->last;
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

bool GaudiStream::Count(Command& command, uint64_t sequence, Faults::Kind kind) {
  command.kind = Command::Kind::kNothing;
  if (state_->error.is_set()) return false;
  if (absl::Status fault = device_->CountCommand(kind, kind_); !fault.ok()) {
    state_->error.Set(sequence, command.recipe == nullptr ? std::move(fault) : OfLaunch(*command.recipe, fault));
    return false;
  }
  command.kind = Command::Kind::kWork;
  return true;
}

template <typename Function>
void GaudiStream::RunNow(Command& command, uint64_t sequence, Faults::Kind kind, Engine engine,
                         const Function& submit) {
  if (!Count(command, sequence, kind)) return;
  const absl::Status status = Submit(engine, submit, &command);
  if (!status.ok()) FailAtCall(sequence, OfWork(command, device_->Observe(status)));
}

void GaudiStream::KeepBack(Command& command, uint64_t sequence, std::function<void(Command&, uint64_t)> submission) {
  command.submission = std::move(submission);
  state_->kept_back.push_back({&command, sequence});
}

template <typename Function>
void GaudiStream::Run(Faults::Kind kind, Engine engine, const char* name, uint64_t bytes, const Function& submit,
                      std::shared_ptr<const hal::Recipe> recipe) {
  state_->queue.Push([&](Command& command, uint64_t sequence) {
    command.kind = Command::Kind::kNothing;
    if (state_->error.is_set()) return;
    command.name = name;
    command.bytes = bytes;
    command.recipe = std::move(recipe);
    std::lock_guard<std::mutex> lock(state_->submit_mutex);
    if (!state_->is_held) return RunNow(command, sequence, kind, engine, submit);
    KeepBack(command, sequence, [this, kind, engine, submit](Command& kept, uint64_t number) {
      RunNow(kept, number, kind, engine, submit);
    });
  });
}

void GaudiStream::Hold(Command& command, uint64_t sequence) {
  std::lock_guard<std::mutex> lock(state_->submit_mutex);
  command.is_holder = true;
  if (state_->is_held) {
    state_->kept_back.push_back({&command, sequence});
    return;
  }
  std::lock_guard<std::mutex> mark_lock(state_->mark_mutex);
  state_->is_held = true;
}

void GaudiStream::RunHolder(Command& command, uint64_t sequence) {
  if (command.kind == Command::Kind::kWait) {
    if (absl::Status awaited = command.point.Wait(); !awaited.ok()) state_->error.Set(sequence, std::move(awaited));
  } else if (Count(command, sequence, Faults::kLaunch)) {
    Steps steps(this, &command);
    const absl::Status status = device_->Observe(RunSteps(*command.steps, &steps));
    if (!status.ok()) {
      FailAtCall(sequence, OfWork(command, status));
      command.end.reset();  // it has ended
    }
  }
  Release();
}

void GaudiStream::Release() {
  std::lock_guard<std::mutex> lock(state_->submit_mutex);
  while (!state_->kept_back.empty()) {
    const State::KeptBack next = state_->kept_back.front();
    state_->kept_back.pop_front();
    if (next.command->is_holder) return;
    if (!state_->error.is_set()) next.command->submission(*next.command, next.sequence);
  }
  {
    std::lock_guard<std::mutex> mark_lock(state_->mark_mutex);
    state_->is_held = false;
  }
  state_->released.notify_all();
}

void GaudiStream::RunCollective(std::shared_ptr<CollectiveWork> work, const char* name, uint64_t bytes) {
  state_->queue.Push([&](Command& command, uint64_t sequence) {
    command.name = name;
    command.bytes = bytes;
    command.collective = std::move(work);
    // All ranks must call HCCL in one order, so the call waits for the end of a hold instead of being kept back.
    std::unique_lock<std::mutex> lock(state_->submit_mutex);
    state_->released.wait(lock, [this] { return !state_->is_held; });
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
      state_->error.Set(sequence, OfWork(command, command.error));  // later calls may precede Conclude's better error
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
  Run(Faults::kCopy, Engine::kHostToDevice, "CopyToDevice", bytes,
      [this, pieces, destination](synapse::synStreamHandle stream) {
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
  Run(Faults::kCopy, Engine::kDeviceToHost, "CopyToHost", bytes,
      [this, pieces, source](synapse::synStreamHandle stream) {
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
  Run(Faults::kCopy, Engine::kDeviceToDevice, "CopyOnDevice", bytes, [=](synapse::synStreamHandle stream) {
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

// SynapseAI does not define copies that overlap themselves, so each part goes through scratch memory. The order of the
// parts keeps the source of later parts intact.
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
  Run(Faults::kFill, Engine::kDeviceToDevice, "Fill", bytes, [=, &functions](synapse::synStreamHandle stream) {
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
    return absl::InvalidArgumentError(absl::StrCat(
        "launch of ", recipe->name(), ": the recipe belongs to another backend; compile or load it on this device"));
  }
  std::lock_guard<std::mutex> lock(state_->launch_mutex);
  LaunchAddresses& addresses = state_->addresses;
  HPU_RETURN_IF_ERROR(addresses.Set(*own, arguments));
  addresses.ToCard(device_->card_distance());
  if (!addresses.copies().empty()) HPU_RETURN_IF_ERROR(CopyArguments());
  const uint64_t workspace =
      own->workspace_bytes() == 0 ? 0 : device_->ToCard(arguments.workspace) + own->graph_workspace_offset();
  if (own->has_loops()) return RunLoops(std::static_pointer_cast<const GaudiRecipe>(std::move(recipe)), workspace);
  const CompiledGraph* graph = own->steps().empty() ? nullptr : &own->graph(own->steps().front());
  Run(Faults::kLaunch, Engine::kCompute, "Launch", 0, GraphLaunch(graph, &addresses.addresses(), workspace),
      std::move(recipe));
  return absl::OkStatus();
}

absl::Status GaudiStream::RunLoops(std::shared_ptr<const GaudiRecipe> recipe, uint64_t workspace) {
  if (state_->predicate == nullptr) {
    HPU_ASSIGN_OR_RETURN(state_->predicate, device_->AllocateHost(1));
  }
  auto launch = std::make_shared<const StepLaunch>(StepLaunch{recipe, state_->addresses.addresses(), workspace});
  state_->queue.Push([&](Command& command, uint64_t sequence) {
    command.kind = Command::Kind::kNothing;
    if (state_->error.is_set()) return;
    command.kind = Command::Kind::kWork;
    command.name = "Launch";
    command.bytes = 0;
    command.recipe = std::move(recipe);
    command.steps = std::move(launch);
    Hold(command, sequence);
  });
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
        [this, source, destination = memory + copy.offset, bytes = copy.bytes](synapse::synStreamHandle stream) {
          return CopyOnCard(stream, source, destination, bytes);
        });
  }
  addresses.PlaceCopies(memory);
  return absl::OkStatus();
}

absl::Status GaudiStream::Record(hal::Event& event) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  auto* own = dynamic_cast<common::PointEvent*>(&event);
  if (own == nullptr)
    return absl::InvalidArgumentError(
        "cannot record the event: it belongs to another backend; create it on this device");
  own->Set(Now());
  return absl::OkStatus();
}

absl::Status GaudiStream::Wait(const hal::Event& event) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  const auto* own = dynamic_cast<const common::PointEvent*>(&event);
  if (own == nullptr)
    return absl::InvalidArgumentError(
        "cannot wait for the event: it belongs to another backend; create it on this device");
  common::Point point = own->point();
  if (point.timeline == state_->timeline || (point.Reached() && point.Error().ok())) return absl::OkStatus();
  state_->queue.Push([&](Command& command, uint64_t sequence) {
    command.kind = Command::Kind::kWait;
    command.point = std::move(point);
    // An error that is known already stops this stream's later calls.
    if (absl::Status error = command.point.Error(); !error.ok()) state_->error.Set(sequence, std::move(error));
    if (state_->error.is_set()) return;
    if (IsHostDriven(command.point)) return Hold(command, sequence);
    std::lock_guard<std::mutex> lock(state_->submit_mutex);
    if (!state_->is_held) return WaitNow(command, sequence);
    KeepBack(command, sequence, [this](Command& kept, uint64_t number) { WaitNow(kept, number); });
  });
  return absl::OkStatus();
}

void GaudiStream::WaitNow(Command& command, uint64_t sequence) {
  const auto* mark = dynamic_cast<const Mark*>(command.point.mark.get());
  // Without a mark, no device work that is unfinished precedes the event, and device work does not wait for callbacks.
  if (mark == nullptr) return;
  Repair();
  command.before = last_mark();
  const absl::Status status = [&]() -> absl::Status {
    HPU_ASSIGN_OR_RETURN(const synapse::synStreamHandle stream, state_->engines.Current());
    HPU_RETURN_IF_ERROR(CallWhenFree([&] { return mark->WaitOn(stream); }));
    return MarkEnd(stream, &command);
  }();
  if (!status.ok()) FailAtCall(sequence, device_->Observe(status));
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
    if (command.is_holder) RunHolder(command, sequence);
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
      // Prefers the error of the awaited work to the failure that this error caused here.
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
