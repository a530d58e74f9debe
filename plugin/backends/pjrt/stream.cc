#include "plugin/backends/pjrt/stream.h"

#include <pthread.h>

#include <typeinfo>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/backends/common/point_event.h"
#include "plugin/backends/common/signal_mask.h"
#include "plugin/backends/pjrt/device.h"
#include "plugin/backends/pjrt/recipe.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/status_payloads.h"

namespace hpu::pjrt {
namespace {

using common::Faults;

// Prepends the name of the launched recipe to `status`, unless `recipe` is null.
absl::Status OfLaunch(const hal::Recipe* recipe, absl::Status status) {
  if (status.ok() || recipe == nullptr) return status;
  return Reworded(status, absl::StrCat("launch of ", recipe->name(), ": ", status.message()));
}

}  // namespace

PjrtStream::PjrtStream(PjrtDevice* device, hal::StreamKind kind)
    : device_(device), kind_(kind), state_(std::make_unique<State>()) {
  device_->AddStream(this);
  const common::ScopedSignalMask mask;
  state_->thread = std::thread([this] { RunCommands(); });
  pthread_setname_np(state_->thread.native_handle(), "hpu_pjrt_stream");
}

PjrtStream::~PjrtStream() {
  if (device_->liveness().forked()) {
    static_cast<void>(state_.release());
    return;
  }
  state_->queue.Push([](Command& command, uint64_t) { command.kind = Command::Kind::kStop; });
  state_->thread.join();
  device_->RemoveStream(this);
}

template <typename Work>
void PjrtStream::Run(Faults::Kind kind, const hal::Recipe* recipe, const Work& work) {
  state_->queue.PushUnlessEnded([&](Command& slot, uint64_t sequence) {
    slot.kind = Command::Kind::kNothing;
    if (state_->error.is_set()) return true;
    Command& command = state_->pushed;
    command.kind = Command::Kind::kNothing;
    absl::Status status = device_->CountCommand(kind, kind_);
    if (status.ok()) status = work(command);
    const bool ended = !status.ok() || command.kind == Command::Kind::kNothing ||
                       (command.kind == Command::Kind::kEnd && command.end.IsReady());
    if (!ended) {
      std::swap(slot, command);
      return false;
    }
    if (status.ok()) status = device_->client().WithMemoryStats(command.end.Await());
    if (!status.ok()) state_->error.Set(sequence, OfLaunch(recipe, std::move(status)));
    command.Clear();
    return true;
  });
}

absl::Status PjrtStream::CopyToDevice(const void* source, hal::DeviceAddress destination, uint64_t bytes) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  HPU_RETURN_IF_ERROR(device_->host().Check(source, bytes, "source of CopyToDevice"));
  HPU_RETURN_IF_ERROR(device_->memory().Check(destination, bytes, "destination of CopyToDevice"));
  if (bytes == 0) return absl::OkStatus();
  Run(Faults::kCopy, nullptr, [&](Command& command) {
    command.kind = Command::Kind::kEnd;
    return device_->contents().CopyToDevice(source, destination, bytes, &command.end);
  });
  return absl::OkStatus();
}

absl::Status PjrtStream::CopyToHost(hal::DeviceAddress source, void* destination, uint64_t bytes) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  HPU_RETURN_IF_ERROR(device_->memory().Check(source, bytes, "source of CopyToHost"));
  HPU_RETURN_IF_ERROR(device_->host().Check(destination, bytes, "destination of CopyToHost"));
  if (bytes == 0) return absl::OkStatus();
  Run(Faults::kCopy, nullptr, [&](Command& command) -> absl::Status {
    command.pieces = device_->contents().Pieces(source, bytes);
    if (command.pieces.size() == 1 && device_->contents().IsReady(command.pieces)) {
      std::vector<Event> ends;
      HPU_RETURN_IF_ERROR(device_->contents().CopyToHost(command.pieces, destination, &ends));
      command.kind = Command::Kind::kEnd;
      if (!ends.empty()) command.end = std::move(ends.front());
    } else {
      command.kind = Command::Kind::kCopyToHost;
      command.destination = destination;
    }
    return absl::OkStatus();
  });
  device_->contents().DestroyDonated();
  return absl::OkStatus();
}

absl::Status PjrtStream::CopyOnDevice(hal::DeviceAddress source, hal::DeviceAddress destination, uint64_t bytes) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  HPU_RETURN_IF_ERROR(device_->memory().Check(source, bytes, "source of CopyOnDevice"));
  HPU_RETURN_IF_ERROR(device_->memory().Check(destination, bytes, "destination of CopyOnDevice"));
  if (bytes == 0) return absl::OkStatus();
  Run(Faults::kCopy, nullptr, [&](Command&) {
    device_->contents().CopyOnDevice(source, destination, bytes);
    return absl::OkStatus();
  });
  return absl::OkStatus();
}

absl::Status PjrtStream::Fill(hal::DeviceAddress destination, uint8_t value, uint64_t bytes) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  HPU_RETURN_IF_ERROR(device_->memory().Check(destination, bytes, "destination of Fill"));
  if (bytes == 0) return absl::OkStatus();
  Run(Faults::kFill, nullptr, [&](Command& command) {
    command.kind = Command::Kind::kEnd;
    return device_->contents().Fill(destination, value, bytes, &command.end);
  });
  return absl::OkStatus();
}

absl::Status PjrtStream::Launch(std::shared_ptr<const hal::Recipe> recipe, const hal::LaunchArguments& arguments) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  HPU_RETURN_IF_ERROR(device_->memory().CheckLaunch(kind_, recipe.get(), arguments));
  const hal::Recipe& launched = *recipe;
  if (typeid(launched) != typeid(PjrtRecipe)) {  // cheaper than dynamic_cast
    return absl::InvalidArgumentError(absl::StrCat(
        "launch of ", recipe->name(), ": the recipe belongs to another backend; compile or load it on this device"));
  }
  const auto* const own = static_cast<const PjrtRecipe*>(&launched);
  Run(Faults::kLaunch, own, [&](Command& command) -> absl::Status {
    command.kind = Command::Kind::kEnd;
    HPU_ASSIGN_OR_RETURN(command.end, device_->contents().Launch(*own, arguments));
    command.recipe = std::move(recipe);
    return absl::OkStatus();
  });
  return absl::OkStatus();
}

absl::Status PjrtStream::Record(hal::Event& event) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  auto* own = dynamic_cast<common::PointEvent*>(&event);
  if (own == nullptr)
    return absl::InvalidArgumentError(
        "cannot record the event: it belongs to another backend; create it on this device");
  own->Set(state_->error.PointAfter(state_->timeline, state_->queue));
  return absl::OkStatus();
}

absl::Status PjrtStream::Wait(const hal::Event& event) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  const auto* own = dynamic_cast<const common::PointEvent*>(&event);
  if (own == nullptr)
    return absl::InvalidArgumentError(
        "cannot wait for the event: it belongs to another backend; create it on this device");
  common::Point point = own->point();
  if (point.timeline == state_->timeline || (point.Reached() && point.Error().ok())) return absl::OkStatus();
  state_->queue.Push([&](Command& command, uint64_t sequence) {
    // An error that is already known makes this stream skip its later commands.
    if (absl::Status error = point.Error(); !error.ok()) state_->error.Set(sequence, std::move(error));
    command.kind = Command::Kind::kWait;
    command.point = std::move(point);
  });
  return absl::OkStatus();
}

absl::Status PjrtStream::AddCallback(std::function<void(absl::Status)> callback) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  state_->queue.Push([&](Command& command, uint64_t) {
    command.kind = Command::Kind::kCallback;
    command.point = state_->error.PointAfter(state_->timeline, state_->queue);
    command.callback = std::move(callback);
  });
  device_->contents().DestroyDonated();
  return absl::OkStatus();
}

void PjrtStream::QueueExchange(absl::Span<const peers::Operand> operands, peers::Exchange exchange) {
  state_->queue.Push([&](Command& command, uint64_t sequence) {
    command.kind = Command::Kind::kExchange;
    command.exchange = std::move(exchange);
    if (state_->error.is_set()) return;
    absl::StatusOr<HostExchange> prepared = device_->contents().Exchange(operands);
    if (prepared.ok()) {
      command.operands.emplace(*std::move(prepared));
    } else {
      state_->error.Set(sequence, prepared.status());
    }
  });
}

void PjrtStream::QueueCollective(const std::function<std::unique_ptr<DeviceExchange>()>& prepare,
                                 peers::CollectiveTurn turn) {
  state_->queue.Push([&](Command& command, uint64_t) {
    command.kind = Command::Kind::kCollective;
    command.turn = std::move(turn);
    if (!state_->error.is_set()) command.collective = prepare();
  });
}

absl::Status PjrtStream::Synchronize() {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  const uint64_t sequence = state_->queue.pushed();
  device_->contents().DestroyDonated();
  state_->timeline->WaitFor(sequence);
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  return state_->error.TakeUpTo(sequence);
}

void PjrtStream::WaitForWork() { state_->timeline->WaitFor(state_->queue.pushed()); }

void PjrtStream::RunCommands() {
  for (uint64_t sequence = 1;; ++sequence) {
    Command& command = state_->queue.Await(sequence);
    if (state_->timeline->Reached(sequence)) continue;  // the command had completed when it was pushed
    const bool last = command.kind == Command::Kind::kStop;
    if (absl::Status status = Finish(command, sequence); !status.ok()) state_->error.Set(sequence, std::move(status));
    command.Clear();
    state_->timeline->Complete(sequence);
    if (last) return;
  }
}

absl::Status PjrtStream::Finish(Command& command, uint64_t sequence) {
  switch (command.kind) {
    case Command::Kind::kNothing:
    case Command::Kind::kStop:
      return absl::OkStatus();
    case Command::Kind::kEnd:
      return OfLaunch(command.recipe.get(), device_->client().WithMemoryStats(command.end.Await()));
    case Command::Kind::kCopyToHost: {
      std::vector<Event> ends;
      absl::Status status = device_->contents().CopyToHost(command.pieces, command.destination, &ends);
      for (const Event& end : ends) status.Update(end.Await());
      return status;
    }
    case Command::Kind::kWait:
      return command.point.Wait();
    case Command::Kind::kCallback:
      command.callback(command.point.Error());
      return absl::OkStatus();
    case Command::Kind::kExchange: {
      const absl::Status before = state_->error.UpTo(sequence);
      if (!command.operands.has_value()) return command.exchange(before, {});
      return command.operands->Run(command.exchange, before, device_->contents());
    }
    case Command::Kind::kCollective: {
      const absl::Status before = state_->error.UpTo(sequence);
      const absl::Status status = command.turn(before, before.ok() ? command.collective.get() : nullptr);
      if (!status.ok() && command.collective != nullptr) command.collective->Fail(status);
      return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace hpu::pjrt
