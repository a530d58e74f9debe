// Events of the emulator: a position in a stream's timeline.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_DEVICE_EVENT_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_DEVICE_EVENT_H_

#include <memory>
#include <mutex>

#include "plugin/backends/common/liveness.h"
#include "plugin/backends/common/timeline.h"
#include "plugin/hal/event.h"

namespace hpu::emulator {

// Stream::Record queues no command: it copies the stream's current position into the event.
class EmulatorEvent final : public hal::Event {
 public:
  explicit EmulatorEvent(const common::Liveness& liveness) : liveness_(liveness), state_(std::make_unique<State>()) {}
  ~EmulatorEvent() override;

  absl::StatusOr<bool> Query() const override;
  absl::Status Synchronize() const override;

  void Set(common::Point point);
  common::Point point() const;

 private:
  struct State {
    std::mutex mutex;
    common::Point point;
  };

  const common::Liveness& liveness_;
  std::unique_ptr<State> state_;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_DEVICE_EVENT_H_
