// Session: claim of a client on one module, with the state shared by the client's calls.
#ifndef HPU_PLUGIN_SERVER_SERVICE_SESSION_H_
#define HPU_PLUGIN_SERVER_SERVICE_SESSION_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/backends/common/faults.h"
#include "plugin/base/files/shared_memory.h"
#include "plugin/hal/device.h"
#include "plugin/server/service/byte_budget.h"
#include "plugin/server/service/handle_table.h"
#include "plugin/server/service/limits.h"
#include "plugin/server/service/server_call.h"

namespace hpu::serve {

// Thread safe.
class Session {
 public:
  // Wire address of the first byte of the session's memory.
  static constexpr uint64_t kBaseAddress = uint64_t{1} << 20;
  static constexpr size_t kTokenBytes = 16;
  static constexpr uint64_t kSharedBytes = uint64_t{32} << 20;
  static constexpr size_t kMaxCalls = 64;
  static constexpr size_t kMaxEvents = size_t{1} << 16;

  // Allocates all memory of the device for the session. `faults`: faults to inject into the session's calls.
  static absl::StatusOr<std::shared_ptr<Session>> Create(std::unique_ptr<hal::Device> device,
                                                         const SessionLimits& limits, common::Faults faults);
  ~Session() { Close(); }

  // A call's reference to the session. Keeps the device alive.
  class Share {
   public:
    Share(std::shared_ptr<Session> session, ServerCall* call) : session_(std::move(session)), call_(call) {}
    Share(Share&& other) noexcept = default;
    ~Share() {
      if (session_ != nullptr) session_->Leave(call_);
    }

   private:
    std::shared_ptr<Session> session_;
    ServerCall* call_;
  };
  // Registers a call of the client, except Hold. Fails with Cancelled if the session has ended, and with
  // ResourceExhausted for more than kMaxCalls calls.
  static absl::StatusOr<Share> Enter(const std::shared_ptr<Session>& session, ServerCall* call);

  // Ends the Hold call with `status`. Only the first End has an effect.
  void End(const absl::Status& status);
  // OK until End() is called.
  absl::Status end() const;
  // Cancels all calls and refuses new calls.
  void EndCalls();
  // Cancels all calls, blocks until the calls and their work have ended, and releases the memory and the device.
  void Close();

  hal::Device& device() { return *device_; }
  // Converts a client's address to a device address; 0 stays 0. The device refuses addresses outside the session's
  // memory.
  hal::DeviceAddress ToDevice(uint64_t address) const { return address == 0 ? 0 : address + distance_; }
  // Creates memory that the session shares with its client. Call before any other thread uses the session.
  absl::Status ShareMemory();
  // Null if ShareMemory was not called.
  const files::SharedMemory* shared_memory() const { return shared_memory_.get(); }
  // A range of the shared memory. Fails with InvalidArgument if the range exceeds the shared memory.
  absl::StatusOr<char*> SharedRange(uint64_t offset, uint64_t bytes) const;
  HandleTable<hal::Event>& events() { return events_; }
  HandleTable<const hal::Recipe>& recipes() { return recipes_; }
  // Budget for the recipes in the session.
  ByteBudget& recipe_bytes() { return recipe_bytes_; }
  // Budget for programs and recipes in transfer and for the data of copies.
  ByteBudget& in_flight() { return in_flight_; }

  // AddCommunicator fails with InvalidArgument if the handle is in use, FindCommunicator if the handle is unknown.
  // Queued work keeps its communicator alive.
  absl::Status AddCommunicator(uint64_t handle, std::shared_ptr<hal::Communicator> communicator);
  absl::StatusOr<std::shared_ptr<hal::Communicator>> FindCommunicator(uint64_t handle) const;
  void RemoveCommunicator(uint64_t handle);

  common::Faults& faults() { return faults_; }

  void CountLaunch() { launches_.fetch_add(1, std::memory_order_relaxed); }
  void CountToDevice(uint64_t bytes) { bytes_to_device_.fetch_add(bytes, std::memory_order_relaxed); }
  void CountToHost(uint64_t bytes) { bytes_to_host_.fetch_add(bytes, std::memory_order_relaxed); }
  // Whether the session's device supports collective operations.
  bool forms_communicators() const { return forms_communicators_; }
  // Fills the memory sizes and the counters.
  void Describe(proto::Module* module) const;
  const hal::DeviceInfo& info() const { return info_; }

 private:
  Session(std::unique_ptr<hal::Device> device, std::unique_ptr<hal::Memory> memory, const SessionLimits& limits,
          common::Faults faults);
  void Leave(ServerCall* call);

  const hal::DeviceInfo info_;
  const bool forms_communicators_;
  common::Faults faults_;
  uint64_t distance_;  // device address minus client address, modulo 2^64
  std::unique_ptr<hal::Device> device_;
  std::unique_ptr<hal::Memory> memory_;
  std::unique_ptr<files::SharedMemory> shared_memory_;
  std::unique_ptr<hal::HostBuffer> shared_mapping_;  // maps shared_memory_ for the device
  HandleTable<hal::Event> events_{kMaxEvents, "event"};
  HandleTable<const hal::Recipe> recipes_;
  ByteBudget recipe_bytes_;
  ByteBudget in_flight_;
  std::atomic<uint64_t> launches_{0};
  std::atomic<uint64_t> bytes_to_device_{0};
  std::atomic<uint64_t> bytes_to_host_{0};

  mutable std::mutex mutex_;
  std::condition_variable left_;
  absl::Status end_;                                                      // guarded by mutex_
  bool closed_ = false;                                                   // guarded by mutex_
  std::set<ServerCall*> calls_;                                           // guarded by mutex_
  std::map<uint64_t, std::shared_ptr<hal::Communicator>> communicators_;  // guarded by mutex_
};

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_SERVICE_SESSION_H_
