// NullDevice: device without computation; checks all arguments.
#ifndef HPU_PLUGIN_BACKENDS_NULL_DEVICE_H_
#define HPU_PLUGIN_BACKENDS_NULL_DEVICE_H_

#include <memory>
#include <string>

#include "plugin/backends/common/device_memory.h"
#include "plugin/backends/common/faults.h"
#include "plugin/backends/common/host_memory.h"
#include "plugin/backends/common/liveness.h"
#include "plugin/backends/null/host_values.h"
#include "plugin/backends/null/recipe.h"
#include "plugin/hal/device.h"
#include "plugin/hal/device_traits.h"

namespace hpu::null {

// A program on this device spends host time only, so the program's run time is the host overhead. The device is also
// the starting point for a new backend.
class NullDevice final : public hal::Device {
 public:
  // `values`: storage for small values that the host writes. If null, the host reads zeros, and other copies do
  // nothing.
  NullDevice(hal::DeviceInfo info, std::unique_ptr<common::Reservation> reservation, common::Faults faults,
             std::unique_ptr<Compiler> compiler, std::unique_ptr<HostValues> values);

  const hal::DeviceInfo& info() const override { return info_; }
  hal::DeviceTraits traits() override {
    hal::DeviceTraits traits;
    traits.freed_ranges = values_.get();
    return traits;
  }
  hal::MemoryInfo memory_info() const override { return memory_.info(); }
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
  absl::Status Synchronize() override { return liveness_.Check(); }

  // Used by NullStream.
  const common::Liveness& liveness() const { return liveness_; }
  const common::DeviceMemory& memory() const { return memory_; }
  const common::HostMemory& host() const { return host_; }
  HostValues* values() { return values_.get(); }
  absl::Status CountCommand(common::Faults::Kind kind, hal::StreamKind stream) {
    return faults_.CountCommand(kind, stream, liveness_);
  }

 private:
  const hal::DeviceInfo info_;
  common::Liveness liveness_;
  const std::unique_ptr<HostValues> values_;  // may be null
  common::DeviceMemory memory_;
  common::HostMemory host_;
  common::Faults faults_;
  const std::unique_ptr<Compiler> compiler_;
};

}  // namespace hpu::null

#endif  // HPU_PLUGIN_BACKENDS_NULL_DEVICE_H_
