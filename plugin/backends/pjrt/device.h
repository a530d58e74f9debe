// PjrtDevice: a device of a PJRT plugin.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_DEVICE_H_
#define HPU_PLUGIN_BACKENDS_PJRT_DEVICE_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "plugin/backends/common/device_memory.h"
#include "plugin/backends/common/faults.h"
#include "plugin/backends/common/host_memory.h"
#include "plugin/backends/common/liveness.h"
#include "plugin/backends/common/module_lock.h"
#include "plugin/backends/common/peers/peer_communicator.h"
#include "plugin/backends/pjrt/client/client.h"
#include "plugin/backends/pjrt/client/profiler.h"
#include "plugin/backends/pjrt/device_contents.h"
#include "plugin/backends/pjrt/job_rendezvous.h"
#include "plugin/backends/pjrt/memory_publisher.h"
#include "plugin/backends/pjrt/world.h"
#include "plugin/hal/device.h"
#include "plugin/hal/device_traits.h"

namespace hpu::pjrt {

class PjrtStream;

class PjrtDevice final : public hal::Device,
                         public hal::FreedRanges,
                         public hal::ActivityRecorder,
                         public peers::PeerDevice,
                         public peers::CollectiveDevice {
 public:
  // `world`: world of the client's device; null if collectives go through host memory. `job`: job whose processes are
  // the ranks of communicators; null if the ranks are in this process.
  PjrtDevice(hal::DeviceInfo info, std::optional<common::ModuleLock> lock, std::unique_ptr<Client> client,
             std::shared_ptr<World> world, std::unique_ptr<JobRendezvous> job,
             std::unique_ptr<common::Reservation> reservation, common::Faults faults);
  ~PjrtDevice() override;

  const hal::DeviceInfo& info() const override { return info_; }
  hal::DeviceTraits traits() override {
    hal::DeviceTraits traits;
    traits.freed_ranges = this;
    traits.activity_recorder = this;
    return traits;
  }
  hal::MemoryInfo memory_info() const override { return state_->memory.info(); }
  hal::DeviceUsage usage() const override;
  absl::StatusOr<std::unique_ptr<hal::Memory>> AllocateMemory(uint64_t bytes) override;
  absl::StatusOr<std::unique_ptr<hal::HostBuffer>> AllocateHost(uint64_t bytes) override;
  absl::StatusOr<std::unique_ptr<hal::HostBuffer>> MapHost(void* data, uint64_t bytes) override;
  absl::StatusOr<std::unique_ptr<hal::Stream>> CreateStream(hal::StreamKind kind) override;
  absl::StatusOr<std::unique_ptr<hal::Event>> CreateEvent() override;
  absl::StatusOr<std::shared_ptr<const hal::Recipe>> Compile(const hal::Program& program) override;
  absl::StatusOr<std::shared_ptr<const hal::Recipe>> LoadRecipe(absl::string_view name,
                                                                absl::string_view bytes) override;
  absl::StatusOr<std::string> CreateCommunicatorId() override;
  absl::StatusOr<std::unique_ptr<hal::Communicator>> CreateCommunicator(
      const hal::CommunicatorOptions& options) override;
  absl::Status Synchronize() override;
  void RangeFreed(hal::DeviceAddress address, uint64_t bytes) override;

  // Used by PjrtStream.
  const common::Liveness& liveness() const { return liveness_; }
  const common::DeviceMemory& memory() const { return state_->memory; }
  const common::HostMemory& host() const { return state_->host; }
  const Client& client() const { return *state_->client; }
  DeviceContents& contents() { return state_->contents; }
  World* world() const { return state_->world.get(); }
  absl::Status CountCommand(common::Faults::Kind kind, hal::StreamKind stream) {
    return state_->faults.CountCommand(kind, stream, liveness_);
  }
  absl::Status StartRecord(absl::string_view options) override;
  absl::StatusOr<std::string> TakeRecord() override;
  bool OwnsStream(const hal::Stream& stream) const override;
  void QueueExchange(hal::Stream& stream, std::vector<peers::Operand> operands, peers::Exchange exchange) override;
  peers::CollectiveDevice* collective_device() override { return this; }
  peers::DeviceMember member() const override;
  absl::Status CheckMembers(absl::Span<const peers::DeviceMember> members) const override;
  void QueueCollective(hal::Stream& stream, const common::Collective& collective, const peers::Operand& source,
                       const peers::Operand& destination, const std::vector<uint64_t>& devices,
                       peers::CollectiveTurn turn) override;
  void AddStream(PjrtStream* stream);
  void RemoveStream(PjrtStream* stream);

 private:
  // Leaked, not destroyed, in a forked child. `client` is the first member, because buffers must not outlive the
  // client.
  struct State {
    State(PjrtDevice* device, std::unique_ptr<Client> client, std::shared_ptr<World> world,
          std::unique_ptr<common::Reservation> reservation, common::Faults faults);

    const std::unique_ptr<Client> client;
    const std::shared_ptr<World> world;
    DeviceContents contents;
    common::DeviceMemory memory;
    common::HostMemory host;
    common::Faults faults;
    std::mutex profiler_mutex;
    std::unique_ptr<Profiler> profiler;  // guarded by profiler_mutex; null while nothing is recorded
    std::mutex streams_mutex;
    std::vector<PjrtStream*> streams;  // guarded by streams_mutex
    // Empty if the plugin has no memory statistics, or if the caller has claimed the module.
    std::optional<MemoryPublisher> publisher;
  };

  // Fails with Unimplemented if the plugin cannot create buffers whose contents are written later.
  absl::Status CheckCanExchange() const;

  const hal::DeviceInfo info_;
  const std::optional<common::ModuleLock> lock_;  // empty if the caller has claimed the module
  const std::unique_ptr<JobRendezvous> job_;
  common::Liveness liveness_;
  std::unique_ptr<State> state_;
};

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_DEVICE_H_
