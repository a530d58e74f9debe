// PointEvent: event that stores a position in a stream's timeline.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_POINT_EVENT_H_
#define HPU_PLUGIN_BACKENDS_COMMON_POINT_EVENT_H_

#include <memory>
#include <mutex>

#include "plugin/backends/common/liveness.h"
#include "plugin/backends/common/timeline.h"
#include "plugin/hal/event.h"

namespace hpu::common {

// Stream::Record queues no command: it copies the stream's current position into the event.
class PointEvent final : public hal::Event {
 public:
  explicit PointEvent(const Liveness& liveness) : liveness_(liveness), state_(std::make_unique<State>()) {}
  ~PointEvent() override;

  absl::StatusOr<bool> Query() const override;
  absl::Status Synchronize() const override;

  void Set(Point point);
  Point point() const;

 private:
  struct State {
    std::mutex mutex;
    Point point;
  };

  const Liveness& liveness_;
  std::unique_ptr<State> state_;
};

}  // namespace hpu::common

#endif  // HPU_PLUGIN_BACKENDS_COMMON_POINT_EVENT_H_
