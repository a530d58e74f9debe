// Mark: an event of SynapseAI at one point of a stream's work; MarkPool: events to reuse.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_MARK_POOL_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_MARK_POOL_H_

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/backends/common/timeline.h"
#include "plugin/backends/gaudi/synapse/library.h"

namespace hpu::gaudi {

class MarkPool;

// Recorded once. The last reference returns the event to its pool. Queued waits must hold a reference until they have
// run: on a card, recording an event for which a stream waits is undefined.
class Mark final : public common::DeviceMark {
 public:
  Mark(std::shared_ptr<MarkPool> pool, synapse::OwnedEvent event);
  ~Mark() override;

  absl::Status Record(synapse::synStreamHandle stream) const;
  // Makes later work of `stream` wait.
  absl::Status WaitOn(synapse::synStreamHandle stream) const;
  // Blocks until the point is reached; returns the status of the work before it.
  absl::Status Synchronize() const;

 private:
  const std::shared_ptr<MarkPool> pool_;
  synapse::OwnedEvent event_;
};

// One per stream, so that streams share no lock. Marks keep their pool alive. Must not outlive the device. Thread safe.
class MarkPool : public std::enable_shared_from_this<MarkPool> {
 public:
  // Borrows the function table.
  MarkPool(const synapse::Functions& functions, synapse::synDeviceId device) : functions_(functions), device_(device) {}

  absl::StatusOr<std::shared_ptr<Mark>> Acquire();

 private:
  friend class Mark;

  void Return(synapse::OwnedEvent event);

  const synapse::Functions& functions_;
  const synapse::synDeviceId device_;
  std::mutex mutex_;
  std::vector<synapse::OwnedEvent> free_;  // guarded by mutex_
};

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_MARK_POOL_H_
