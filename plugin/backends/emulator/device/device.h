// EmulatorDevice: HPU emulated on the CPU of this machine.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_DEVICE_DEVICE_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_DEVICE_DEVICE_H_

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "plugin/backends/common/device_memory.h"
#include "plugin/backends/common/faults.h"
#include "plugin/backends/common/host_memory.h"
#include "plugin/backends/common/liveness.h"
#include "plugin/backends/common/module_lock.h"
#include "plugin/backends/common/peers/peer_communicator.h"
#include "plugin/backends/common/timeline.h"
#include "plugin/backends/emulator/device/busy_time.h"
#include "plugin/backends/emulator/threads/compute_pool.h"
#include "plugin/hal/device.h"
#include "plugin/hal/device_traits.h"

namespace hpu::emulator {

class EmulatorStream;

class EmulatorDevice final : public hal::Device,
                             public hal::HostResults,
                             public hal::HostView,
                             public peers::PeerDevice {
 public:
  EmulatorDevice(hal::DeviceInfo info, std::optional<common::ModuleLock> lock,
                 std::unique_ptr<common::Reservation> reservation, common::Faults faults);
  ~EmulatorDevice() override;

  const hal::DeviceInfo& info() const override { return info_; }
  hal::DeviceTraits traits() override {
    hal::DeviceTraits traits;
    traits.host_results = this;
    // Tests of errors count copies.
    if (!has_faults()) traits.host_view = this;
    return traits;
  }
  hal::MemoryInfo memory_info() const override { return state_->memory.info(); }
  hal::DeviceUsage usage() const override {
    hal::DeviceUsage usage;
    usage.memory_bytes = reservation_->CommittedBytes();
    usage.busy_ns = static_cast<uint64_t>(busy_.total().count());
    return usage;
  }
  std::chrono::nanoseconds longest_launch() override;
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
  bool OwnsStream(const hal::Stream& stream) const override;
  void QueueExchange(hal::Stream& stream, std::vector<peers::Operand> operands, peers::Exchange exchange) override;
  void EnableHostResults() override { host_results_enabled_.store(true, std::memory_order_relaxed); }

  char* HostAddressOf(hal::DeviceAddress address) const override { return ToData(address); }

  // Used by EmulatorStream.
  const common::Liveness& liveness() const { return liveness_; }
  const common::DeviceMemory& memory() const { return state_->memory; }
  const common::HostMemory& host() const { return state_->host; }
  ComputePool& pool() { return state_->pool; }
  // Host address of the data at a device address; null for address 0.
  char* ToData(hal::DeviceAddress address) const { return address == 0 ? nullptr : reservation_->ToData(address); }
  // Host address of a result's checked `address`, which may itself be in host memory.
  char* ToResult(hal::DeviceAddress address) const {
    return address == 0 || reservation_->Contains(address) ? ToData(address) : reinterpret_cast<char*>(address);
  }
  // Host memory that may hold results; null if results must be in device memory.
  const common::HostMemory* host_of_results() const {
    return host_results_enabled_.load(std::memory_order_relaxed) ? &state_->host : nullptr;
  }
  // Counts a command that is about to run; fails if a test injects an error or the device is lost.
  absl::Status CountCommand(common::Faults::Kind kind, hal::StreamKind stream) {
    return state_->faults.CountCommand(kind, stream, liveness_);
  }
  // Whether a test injects errors or delays.
  bool has_faults() const { return !state_->faults.empty(); }
  // Time during which launches ran.
  BusyTime* busy() { return &busy_; }
  void AddStream(EmulatorStream* stream);
  void RemoveStream(EmulatorStream* stream);

 private:
  // Leaked, not destroyed, in a forked child.
  struct State {
    State(EmulatorDevice* device, std::unique_ptr<common::Reservation> reservation, common::Faults faults);

    common::DeviceMemory memory;
    common::HostMemory host;
    ComputePool pool;
    common::Faults faults;
    std::mutex streams_mutex;
    std::vector<EmulatorStream*> streams;  // guarded by streams_mutex
  };

  void WaitForStreams();

  const hal::DeviceInfo info_;
  const std::optional<common::ModuleLock> lock_;  // empty if the caller has claimed the module
  common::Liveness liveness_;
  std::atomic<bool> host_results_enabled_{false};
  const common::Reservation* const reservation_;  // owned by state_->memory
  mutable BusyTime busy_;
  std::unique_ptr<State> state_;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_DEVICE_DEVICE_H_
