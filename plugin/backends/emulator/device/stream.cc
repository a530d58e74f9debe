#include "plugin/backends/emulator/device/stream.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/backends/common/point_event.h"
#include "plugin/backends/common/signal_mask.h"
#include "plugin/backends/common/uncached_copy.h"
#include "plugin/backends/emulator/device/device.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/status_payloads.h"

namespace hpu::emulator {
namespace {

// Work up to these limits takes about as long as waking the stream's thread.
constexpr uint64_t kShortBytes = 64 << 10;
constexpr std::chrono::microseconds kShortLaunch(20);

int64_t NowNs() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

const char* ThreadName(hal::StreamKind kind) {
  switch (kind) {
    case hal::StreamKind::kCompute:
      return "hpu_stream_c";
    case hal::StreamKind::kHostToDevice:
      return "hpu_stream_h2d";
    case hal::StreamKind::kDeviceToHost:
      return "hpu_stream_d2h";
  }
  return "hpu_stream";
}

}  // namespace

EmulatorStream::EmulatorStream(EmulatorDevice* device, hal::StreamKind kind)
    : device_(device), kind_(kind), state_(std::make_unique<State>()) {
  device_->AddStream(this);
  const common::ScopedSignalMask mask;
  state_->thread = std::thread([this] { RunCommands(); });
  pthread_setname_np(state_->thread.native_handle(), ThreadName(kind));
}

EmulatorStream::~EmulatorStream() {
  if (device_->liveness().forked()) {
    static_cast<void>(state_.release());
    return;
  }
  state_->queue.Push([](Command& command, uint64_t) { command.kind = Command::Kind::kStop; });
  state_->thread.join();
  device_->RemoveStream(this);
}

template <typename Write>
void EmulatorStream::QueueWork(bool is_short, const Write& write) {
  const bool may_run_here = is_short && !device_->has_faults();
  state_->queue.PushUnlessEnded([&](Command& command, uint64_t sequence) {
    write(command);
    if (!may_run_here || !state_->timeline->Reached(sequence - 1)) return false;
    Run(command, sequence);
    command.Clear();
    return true;
  });
}

absl::Status EmulatorStream::CopyToDevice(const void* source, hal::DeviceAddress destination, uint64_t bytes) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  HPU_RETURN_IF_ERROR(device_->host().Check(source, bytes, "source of CopyToDevice"));
  HPU_RETURN_IF_ERROR(device_->memory().Check(destination, bytes, "destination of CopyToDevice"));
  return QueueCopy(source, device_->ToData(destination), bytes, /*from_host=*/true);
}

absl::Status EmulatorStream::CopyToHost(hal::DeviceAddress source, void* destination, uint64_t bytes) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  HPU_RETURN_IF_ERROR(device_->memory().Check(source, bytes, "source of CopyToHost"));
  HPU_RETURN_IF_ERROR(device_->host().Check(destination, bytes, "destination of CopyToHost"));
  return QueueCopy(device_->ToData(source), destination, bytes);
}

absl::Status EmulatorStream::CopyOnDevice(hal::DeviceAddress source, hal::DeviceAddress destination, uint64_t bytes) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  HPU_RETURN_IF_ERROR(device_->memory().Check(source, bytes, "source of CopyOnDevice"));
  HPU_RETURN_IF_ERROR(device_->memory().Check(destination, bytes, "destination of CopyOnDevice"));
  return QueueCopy(device_->ToData(source), device_->ToData(destination), bytes);
}

absl::Status EmulatorStream::QueueCopy(const void* source, void* destination, uint64_t bytes, bool from_host) {
  if (bytes == 0) return absl::OkStatus();
  QueueWork(bytes <= kShortBytes, [&](Command& command) {
    command.kind = Command::Kind::kCopy;
    command.source = source;
    command.destination = destination;
    command.bytes = bytes;
    command.from_host = from_host;
  });
  return absl::OkStatus();
}

absl::Status EmulatorStream::Fill(hal::DeviceAddress destination, uint8_t value, uint64_t bytes) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  HPU_RETURN_IF_ERROR(device_->memory().Check(destination, bytes, "destination of Fill"));
  if (bytes == 0) return absl::OkStatus();
  QueueWork(bytes <= kShortBytes, [&](Command& command) {
    command.kind = Command::Kind::kFill;
    command.destination = device_->ToData(destination);
    command.value = value;
    command.bytes = bytes;
  });
  return absl::OkStatus();
}

absl::Status EmulatorStream::Launch(std::shared_ptr<const hal::Recipe> recipe, const hal::LaunchArguments& arguments) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  HPU_RETURN_IF_ERROR(device_->memory().CheckLaunch(kind_, recipe.get(), arguments, device_->host_of_results()));
  const auto* emulator_recipe = dynamic_cast<const EmulatorRecipe*>(recipe.get());
  if (emulator_recipe == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "launch of ", recipe->name(), ": the recipe belongs to another backend; compile or load it on this device"));
  }
  QueueWork(emulator_recipe->launch_time().IsAtMost(kShortLaunch), [&](Command& command) {
    command.kind = Command::Kind::kLaunch;
    command.arguments.clear();
    for (const hal::DeviceAddress address : arguments.arguments) command.arguments.push_back(device_->ToData(address));
    command.results.clear();
    for (const hal::DeviceAddress address : arguments.results) command.results.push_back(device_->ToResult(address));
    command.workspace = device_->ToData(arguments.workspace);
    command.emulator_recipe = emulator_recipe;
    command.recipe = std::move(recipe);
  });
  return absl::OkStatus();
}

absl::Status EmulatorStream::Record(hal::Event& event) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  auto* own = dynamic_cast<common::PointEvent*>(&event);
  if (own == nullptr)
    return absl::InvalidArgumentError(
        "cannot record the event: it belongs to another backend; create it on this device");
  own->Set(Now());
  return absl::OkStatus();
}

absl::Status EmulatorStream::Wait(const hal::Event& event) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  const auto* own = dynamic_cast<const common::PointEvent*>(&event);
  if (own == nullptr)
    return absl::InvalidArgumentError(
        "cannot wait for the event: it belongs to another backend; create it on this device");
  common::Point point = own->point();
  if (point.timeline == state_->timeline || (point.Reached() && point.Error().ok())) return absl::OkStatus();
  state_->queue.Push([&](Command& command, uint64_t) {
    command.kind = Command::Kind::kWait;
    command.point = std::move(point);
  });
  return absl::OkStatus();
}

absl::Status EmulatorStream::AddCallback(std::function<void(absl::Status)> callback) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  state_->queue.Push([&](Command& command, uint64_t) {
    command.kind = Command::Kind::kCallback;
    command.callback = std::move(callback);
  });
  return absl::OkStatus();
}

void EmulatorStream::QueueExchange(std::function<absl::Status(const absl::Status&)> exchange) {
  state_->queue.Push([&](Command& command, uint64_t) {
    command.kind = Command::Kind::kExchange;
    command.exchange = std::move(exchange);
  });
}

absl::Status EmulatorStream::Synchronize() {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  const uint64_t sequence = state_->queue.pushed();
  state_->timeline->WaitFor(sequence);
  if (!state_->error.is_set()) return device_->liveness().Check();
  return state_->error.TakeUpTo(sequence);
}

void EmulatorStream::RunCommands() {
  for (uint64_t sequence = 1;; ++sequence) {
    Command& command = state_->queue.Await(sequence);
    if (state_->timeline->Reached(sequence)) continue;  // the thread that pushed the command has run it
    const bool last = command.kind == Command::Kind::kStop;
    Run(command, sequence);
    command.Clear();
    // Completes even the stop command, because another thread may wait for all streams while this stream is being
    // destroyed.
    state_->timeline->Complete(sequence);
    if (last) return;
  }
}

void EmulatorStream::Run(Command& command, uint64_t sequence) {
  switch (command.kind) {
    case Command::Kind::kStop:
      return;
    case Command::Kind::kCallback:
      command.callback(state_->error.UpTo(sequence));
      return;
    case Command::Kind::kExchange:
      if (absl::Status status = command.exchange(state_->error.UpTo(sequence)); !status.ok())
        state_->error.Set(sequence, std::move(status));
      return;
    case Command::Kind::kWait:
      // Waits even after an error, because a later event of this stream guarantees that the awaited work has ended.
      if (absl::Status status = command.point.Wait(); !status.ok()) state_->error.Set(sequence, std::move(status));
      return;
    default:
      if (state_->error.is_set()) return;
      if (absl::Status status = RunWork(command); !status.ok()) state_->error.Set(sequence, std::move(status));
  }
}

absl::Status EmulatorStream::RunWork(Command& command) {
  switch (command.kind) {
    case Command::Kind::kCopy:
      HPU_RETURN_IF_ERROR(device_->CountCommand(common::Faults::kCopy, kind_));
      if (command.from_host) {
        common::CopyUncached(command.destination, command.source, command.bytes);
      } else {
        std::memmove(command.destination, command.source, command.bytes);
      }
      return absl::OkStatus();
    case Command::Kind::kFill:
      HPU_RETURN_IF_ERROR(device_->CountCommand(common::Faults::kFill, kind_));
      std::memset(command.destination, command.value, command.bytes);
      return absl::OkStatus();
    default:
      return RunLaunch(command);
  }
}

absl::Status EmulatorStream::RunLaunch(Command& command) {
  absl::Status status = device_->CountCommand(common::Faults::kLaunch, kind_);
  if (status.ok()) {
    const BusyTime::Scope busy(device_->busy());
    const int64_t begin = NowNs();
    state_->launch_begin_ns.store(begin, std::memory_order_relaxed);
    status = command.emulator_recipe->Run(command.arguments, command.results, command.workspace, device_->pool());
    command.emulator_recipe->launch_time().Add(std::chrono::nanoseconds(NowNs() - begin));
    state_->launch_begin_ns.store(0, std::memory_order_relaxed);
  }
  if (status.ok()) return status;
  return Reworded(status, absl::StrCat("launch of ", command.recipe->name(), ": ", status.message()));
}

std::chrono::nanoseconds EmulatorStream::launch_time() const {
  const int64_t begin = state_->launch_begin_ns.load(std::memory_order_relaxed);
  return std::chrono::nanoseconds(begin == 0 ? 0 : NowNs() - begin);
}

}  // namespace hpu::emulator
