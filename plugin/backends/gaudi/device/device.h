// GaudiDevice: a Gaudi card, through SynapseAI's C API.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_DEVICE_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_DEVICE_H_

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "plugin/backends/common/device_memory.h"
#include "plugin/backends/common/faults.h"
#include "plugin/backends/common/liveness.h"
#include "plugin/backends/gaudi/device/acquired_module.h"
#include "plugin/backends/gaudi/device/card_range.h"
#include "plugin/backends/gaudi/device/host_buffers.h"
#include "plugin/backends/gaudi/hccl/library.h"
#include "plugin/hal/device.h"

namespace hpu::gaudi {

class GaudiStream;

// Device memory is one range of the card. Device addresses lie in a window that the host cannot access, because the
// card's addresses may be valid pointers of this process.
class GaudiDevice final : public hal::Device {
 public:
  // Acquires a module and its memory. `runtime` must outlive the device. `name` is the backend's.
  static absl::StatusOr<std::unique_ptr<GaudiDevice>> Acquire(Runtime& runtime, const hal::AcquireOptions& options,
                                                              const std::string& name);
  ~GaudiDevice() override;

  const hal::DeviceInfo& info() const override { return info_; }
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
  // Unimplemented without HCCL's library.
  absl::StatusOr<std::string> CreateCommunicatorId() override;
  absl::StatusOr<std::unique_ptr<hal::Communicator>> CreateCommunicator(
      const hal::CommunicatorOptions& options) override;
  absl::Status Synchronize() override;

  // For streams and communicators.
  const synapse::Library& library() const { return state_->module->runtime().library(); }
  const synapse::Functions& functions() const { return library().functions(); }
  synapse::synDeviceId id() const { return state_->module->device(); }
  const common::Liveness& liveness() const { return liveness_; }
  const common::DeviceMemory& memory() const { return state_->memory; }
  HostBuffers& host() { return state_->host; }
  // The card's address of a device address.
  uint64_t ToCard(hal::DeviceAddress address) const { return address + card_distance(); }
  uint64_t card_distance() const { return state_->card_distance; }
  // Returns `status`, the result of a call of SynapseAI. Marks the device as lost if `status` is Aborted.
  absl::Status Observe(absl::Status status);
  absl::Status CountCommand(common::Faults::Kind kind, hal::StreamKind stream) {
    return state_->faults.CountCommand(kind, stream, liveness_);
  }
  void AddStream(GaudiStream* stream);
  void RemoveStream(GaudiStream* stream);

 private:
  // Leaked, not destroyed, in a forked child, which must not call SynapseAI. The module comes first, so that it is
  // released last.
  struct State {
    State(GaudiDevice* device, std::unique_ptr<AcquiredModule> module, std::unique_ptr<CardRange> range,
          std::unique_ptr<common::Reservation> reservation, common::Faults faults);

    const std::unique_ptr<AcquiredModule> module;
    const std::unique_ptr<CardRange> range;
    const uint64_t card_distance;  // from a device address to the card's address, modulo 2^64
    common::DeviceMemory memory;
    HostBuffers host;
    common::Faults faults;
    std::mutex streams_mutex;
    std::vector<GaudiStream*> streams;  // guarded by streams_mutex
    std::mutex collectives_mutex;
    std::unique_ptr<hccl::Library> collectives;  // loaded at the first use; guarded by collectives_mutex
  };

  GaudiDevice(hal::DeviceInfo info, synapse::Generation generation, std::unique_ptr<AcquiredModule> module,
              std::unique_ptr<CardRange> range, std::unique_ptr<common::Reservation> reservation,
              common::Faults faults);

  void WaitForStreams();
  absl::StatusOr<const hccl::Library*> Collectives();

  const hal::DeviceInfo info_;
  const synapse::Generation generation_;
  common::Liveness liveness_;
  std::unique_ptr<State> state_;
};

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_DEVICE_H_
