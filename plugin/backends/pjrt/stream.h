// PjrtStream: stream of the PJRT backend.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_STREAM_H_
#define HPU_PLUGIN_BACKENDS_PJRT_STREAM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "plugin/backends/common/command_queue.h"
#include "plugin/backends/common/faults.h"
#include "plugin/backends/common/stream_error.h"
#include "plugin/backends/common/timeline.h"
#include "plugin/backends/pjrt/address_map.h"
#include "plugin/backends/pjrt/client/handles.h"
#include "plugin/backends/pjrt/device_exchange.h"
#include "plugin/backends/pjrt/host_exchange.h"
#include "plugin/hal/stream.h"

namespace hpu::pjrt {

class PjrtDevice;

// A command in a stream's queue; the stream's thread waits for its end. Comments list the kinds that use a field.
struct Command {
  // kNothing: failed or completed at the call. kEnd: work that is queued with PJRT.
  enum class Kind { kNothing, kEnd, kCopyToHost, kWait, kCallback, kExchange, kCollective, kStop };

  Kind kind = Kind::kStop;
  Event end;                                   // kEnd
  std::shared_ptr<const hal::Recipe> recipe;   // kEnd: the launched recipe
  std::vector<AddressMap::Piece> pieces;       // kCopyToHost: the source
  void* destination = nullptr;                 // kCopyToHost
  common::Point point;                         // kWait: point to wait for; kCallback: point of the callback
  std::function<void(absl::Status)> callback;  // kCallback
  // kExchange: `operands` is empty if the stream had failed at the call.
  peers::Exchange exchange;
  std::optional<HostExchange> operands;
  // kCollective: `collective` is null if the stream had failed at the call.
  peers::CollectiveTurn turn;
  std::unique_ptr<DeviceExchange> collective;

  // Releases the objects that the command kept alive.
  void Clear() {
    end = Event();
    recipe.reset();
    pieces.clear();
    point = common::Point();
    callback = nullptr;
    exchange = nullptr;
    operands.reset();
    turn = nullptr;
    collective.reset();
  }
};

// PJRT has no streams. Each call queues its work with PJRT immediately, on the calling thread (DeviceContents). The
// stream's thread waits for the completion of the work in order, as the HAL requires for events and errors. A copy to
// the host whose source is not one ready piece starts on the stream's thread, because plugins abort the process if a
// failed buffer is copied. On a card, a launch that reads an exchange's result waits for the exchange. A launch that
// reads the result of a collective of devices waits until the collective has been launched.
class PjrtStream final : public hal::Stream {
 public:
  PjrtStream(PjrtDevice* device, hal::StreamKind kind);
  ~PjrtStream() override;

  hal::StreamKind kind() const override { return kind_; }
  absl::Status CopyToDevice(const void* source, hal::DeviceAddress destination, uint64_t bytes) override;
  absl::Status CopyToHost(hal::DeviceAddress source, void* destination, uint64_t bytes) override;
  absl::Status CopyOnDevice(hal::DeviceAddress source, hal::DeviceAddress destination, uint64_t bytes) override;
  absl::Status Fill(hal::DeviceAddress destination, uint8_t value, uint64_t bytes) override;
  absl::Status Launch(std::shared_ptr<const hal::Recipe> recipe, const hal::LaunchArguments& arguments) override;
  absl::Status Record(hal::Event& event) override;
  absl::Status Wait(const hal::Event& event) override;
  absl::Status AddCallback(std::function<void(absl::Status)> callback) override;
  absl::Status Synchronize() override;

  // See peers::PeerDevice.
  void QueueExchange(absl::Span<const peers::Operand> operands, peers::Exchange exchange);
  // See peers::CollectiveDevice. `prepare` returns the collective.
  void QueueCollective(const std::function<std::unique_ptr<DeviceExchange>()>& prepare, peers::CollectiveTurn turn);
  const PjrtDevice* device() const { return device_; }
  // Waits for the work queued so far. An error stays with the stream.
  void WaitForWork();

 private:
  // State of the stream's thread. Leaked, not destroyed, in a forked child, where the thread does not exist.
  struct State {
    State() : timeline(std::make_shared<common::Timeline>()), queue(timeline) {}

    const std::shared_ptr<common::Timeline> timeline;
    common::CommandQueue<Command> queue;
    // The command that Run fills, under the queue's lock. Only a command that has not ended moves to the queue. The
    // queue uses its slots in turn, so the next slot is rarely in the processor's cache.
    Command pushed;
    common::StreamError error;
    std::thread thread;
  };

  // Counts a command of this kind for fault injection, then calls `work`. `work` queues work with PJRT and stores the
  // event of its end in the command. Does nothing after an error. An error becomes the stream's error, with the name of
  // `recipe` unless `recipe` is null. The stream's thread skips work that has completed when `work` returns.
  template <typename Work>
  void Run(common::Faults::Kind kind, const hal::Recipe* recipe, const Work& work);

  // Called on the stream's thread.
  void RunCommands();
  absl::Status Finish(Command& command, uint64_t sequence);

  PjrtDevice* const device_;
  const hal::StreamKind kind_;
  std::unique_ptr<State> state_;
};

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_STREAM_H_
