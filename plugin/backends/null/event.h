// NullEvent: event of the null backend, complete when recorded. Stores the stream's error.
#ifndef HPU_PLUGIN_BACKENDS_NULL_EVENT_H_
#define HPU_PLUGIN_BACKENDS_NULL_EVENT_H_

#include <atomic>
#include <mutex>

#include "plugin/backends/common/liveness.h"
#include "plugin/hal/event.h"

namespace hpu::null {

class NullEvent final : public hal::Event {
 public:
  explicit NullEvent(const common::Liveness& liveness) : liveness_(liveness) {}

  absl::StatusOr<bool> Query() const override;
  absl::Status Synchronize() const override;

  void Set(const absl::Status& status);
  absl::Status status() const;

 private:
  const common::Liveness& liveness_;
  std::atomic<bool> failed_{false};  // whether status_ is an error; avoids the lock in the usual case
  mutable std::mutex mutex_;
  absl::Status status_;  // guarded by mutex_
};

}  // namespace hpu::null

#endif  // HPU_PLUGIN_BACKENDS_NULL_EVENT_H_
