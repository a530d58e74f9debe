// Device: one acquired module.
#ifndef HPU_PLUGIN_HAL_DEVICE_H_
#define HPU_PLUGIN_HAL_DEVICE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/hal/communicator.h"
#include "plugin/hal/event.h"
#include "plugin/hal/host_buffer.h"
#include "plugin/hal/memory.h"
#include "plugin/hal/recipe.h"
#include "plugin/hal/stream.h"

namespace hpu::hal {

struct DeviceInfo {
  std::string backend;          // "emulator"
  std::string type;             // what habana_device.get_type() returns: "GAUDI2"
  std::string description;      // for people: "emulated Gaudi, module 0"
  int module_id = 0;            // 0 … modules - 1
  uint64_t memory_bytes = 0;    // all device memory
  std::string compiler_target;  // what recipes depend on (CPU features, card generation, backend version)
};

struct MemoryInfo {
  uint64_t total_bytes = 0;
  uint64_t free_bytes = 0;  // not allocated; one allocation may still fail for fragmentation
};

// For those who watch the device (`hpu smi`).
struct DeviceUsage {
  uint64_t memory_bytes = 0;  // of device memory that holds data
  uint64_t busy_ns = 0;       // for how long launches have run, those that go on included
};

// Exclusively held by this process until destroyed; all objects made from it must be gone by then. Thread safe.
//
// Errors: ResourceExhausted (memory; says what was asked and what is free), InvalidArgument, Aborted (device lost:
// sticky until the device is acquired again; a child after fork() sees it too), Unimplemented (says what).
class Device {
 public:
  virtual ~Device() = default;

  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  virtual const DeviceInfo& info() const = 0;
  virtual MemoryInfo memory_info() const = 0;
  // Zeros where the backend cannot tell. May take milliseconds.
  virtual DeviceUsage usage() const { return {}; }
  // For how long the oldest launch that runs now has run. Zero where the backend cannot tell.
  virtual std::chrono::nanoseconds longest_launch() { return {}; }

  // `bytes` > 0. Contents are undefined.
  virtual absl::StatusOr<std::unique_ptr<Memory>> AllocateMemory(uint64_t bytes) = 0;
  // Host memory that the device may reach; page aligned, `bytes` > 0.
  virtual absl::StatusOr<std::unique_ptr<HostBuffer>> AllocateHost(uint64_t bytes) = 0;
  // Makes memory of the caller reachable. Ranges may overlap.
  virtual absl::StatusOr<std::unique_ptr<HostBuffer>> MapHost(void* data, uint64_t bytes) = 0;

  virtual absl::StatusOr<std::unique_ptr<Stream>> CreateStream(StreamKind kind) = 0;
  virtual absl::StatusOr<std::unique_ptr<Event>> CreateEvent() = 0;

  // Compiles on the calling thread; may take seconds. Several threads may compile at once.
  virtual absl::StatusOr<std::shared_ptr<const Recipe>> Compile(const Program& program) = 0;
  // Takes what Recipe::Serialize gave. InvalidArgument if the bytes are damaged or of another format,
  // FailedPrecondition if they belong to another target.
  virtual absl::StatusOr<std::shared_ptr<const Recipe>> LoadRecipe(absl::string_view name, absl::string_view bytes) = 0;

  // Identifies a new group of processes; called by one of them. Unimplemented where the backend has no collectives.
  virtual absl::StatusOr<std::string> CreateCommunicatorId() = 0;
  // Blocks until all ranks have called it.
  virtual absl::StatusOr<std::unique_ptr<Communicator>> CreateCommunicator(const CommunicatorOptions& options) = 0;

  // Waits for all streams. Stream errors stay with their streams.
  virtual absl::Status Synchronize() = 0;

 protected:
  Device() = default;
};

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_HAL_DEVICE_H_
