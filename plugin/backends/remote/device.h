// RemoteDevice: a device server's module as a device of this process.
#ifndef HPU_PLUGIN_BACKENDS_REMOTE_DEVICE_H_
#define HPU_PLUGIN_BACKENDS_REMOTE_DEVICE_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugin/backends/common/device_memory.h"
#include "plugin/backends/common/faults.h"
#include "plugin/backends/common/host_memory.h"
#include "plugin/backends/remote/recipe.h"
#include "plugin/backends/remote/session.h"
#include "plugin/backends/remote/shared_bounce_buffer.h"
#include "plugin/hal/device.h"
#include "plugin/hal/device_traits.h"

namespace hpu::remote {

class RemoteStream;

// This process checks arguments, allocates device addresses and owns the host memory. The server owns the device memory
// and runs the work. The session owns one range of server memory, from which RemoteDevice allocates. Device addresses
// are in a window: a reserved range of this process's address space that cannot be accessed.
class RemoteDevice final : public hal::Device, public hal::Interruptible {
 public:
  RemoteDevice(hal::DeviceInfo info, std::unique_ptr<Session> session, std::unique_ptr<common::Reservation> reservation,
               common::Faults faults);
  ~RemoteDevice() override;

  const hal::DeviceInfo& info() const override { return info_; }
  hal::DeviceTraits traits() override {
    hal::DeviceTraits traits;
    traits.copies_are_staged = true;
    traits.interruptible = this;
    return traits;
  }
  hal::MemoryInfo memory_info() const override { return state_->memory.info(); }
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
  void Interrupt() override;

  // Used by RemoteStream and RemoteCommunicator.
  Session& session() { return *state_->session; }
  const common::Liveness& liveness() const { return state_->session->liveness(); }
  const common::DeviceMemory& memory() const { return state_->memory; }
  const common::HostMemory& host() const { return state_->host; }
  // Shared bounce buffer for a copy of `bytes` bytes; null if the data goes into messages.
  SharedBounceBuffer* BounceBufferFor(uint64_t bytes) const {
    return bytes < SharedBounceBuffer::kMinBytes ? nullptr : state_->bounce.get();
  }
  bool Made(const RemoteRecipe& recipe) const { return recipe.IsOf(state_->session); }
  // Converts an address in the window to the server's address. 0 stays 0.
  uint64_t ToServer(hal::DeviceAddress address) const { return address == 0 ? 0 : address + distance_; }
  void AddStream(RemoteStream* stream);
  void RemoveStream(RemoteStream* stream);

 private:
  // Leaked, not destroyed, in a forked child.
  struct State {
    State(RemoteDevice* device, std::unique_ptr<Session> session, std::unique_ptr<common::Reservation> reservation,
          common::Faults faults);

    const std::shared_ptr<Session> session;  // first member, because the members below use the session
    const std::unique_ptr<SharedBounceBuffer> bounce;
    common::DeviceMemory memory;
    common::HostMemory host;
    common::Faults faults;  // counts kAllocate only; the server injects the other faults
    std::mutex streams_mutex;
    std::vector<RemoteStream*> streams;  // guarded by streams_mutex
  };

  void WaitForStreams();

  const hal::DeviceInfo info_;
  uint64_t distance_;  // server address minus the address in the window, modulo 2^64
  std::unique_ptr<State> state_;
};

}  // namespace hpu::remote

#endif  // HPU_PLUGIN_BACKENDS_REMOTE_DEVICE_H_
