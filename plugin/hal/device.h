// Device: one acquired module.
#ifndef HPU_PLUGIN_HAL_DEVICE_H_
#define HPU_PLUGIN_HAL_DEVICE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/hal/communicator.h"
#include "plugin/hal/device_traits.h"
#include "plugin/hal/event.h"
#include "plugin/hal/host_buffer.h"
#include "plugin/hal/memory.h"
#include "plugin/hal/recipe.h"
#include "plugin/hal/stream.h"

namespace hpu::hal {

struct DeviceInfo {
  std::string backend;          // the backend's name: "emulator", "null", "remote", "gaudi", "pjrt:cuda"
  std::string type;             // the Gaudi generation that programs see: "GAUDI2" (habana_device.get_type())
  std::string description;      // for display: "emulated GAUDI2, module 0"
  int module_id = 0;            // 0 … modules - 1
  uint64_t memory_bytes = 0;    // all device memory
  std::string compiler_target;  // properties that recipes depend on (CPU features, card generation, backend version)
  // False: the device stands for a card that the machine lacks; launches compute nothing (HPU_PJRT_TARGET).
  bool is_present = true;
};

struct MemoryInfo {
  uint64_t total_bytes = 0;
  uint64_t free_bytes = 0;  // not allocated; an allocation may still fail because of fragmentation
};

// Utilisation of the device, for monitoring (`hpu smi`).
struct DeviceUsage {
  uint64_t memory_bytes = 0;  // device memory that holds data
  uint64_t busy_ns = 0;       // total run time of launches, including running launches
  // Zero if addresses are no names of buffers (docs/developer/hal.md, the PJRT backend).
  uint64_t buffers = 0;            // buffer handles of the device's library
  uint64_t donated_arguments = 0;  // arguments of all launches that results have overwritten
  uint64_t kept_arguments = 0;     // arguments that results could not overwrite, because their contents were in use
  // Figures of the allocator in the device's library; sizes in bytes. Empty if the library does not report them.
  std::optional<uint64_t> library_peak;
  std::optional<uint64_t> library_limit;
  std::optional<uint64_t> library_largest_free_block;
  std::optional<uint64_t> library_pool;         // memory that the allocator holds, including free blocks
  std::optional<uint64_t> library_allocations;  // number so far
};

// A module that this process holds exclusively until the Device is destroyed. All objects created from the device must
// be destroyed before it. Thread safe.
//
// Errors: ResourceExhausted (memory; names the requested and the free bytes), InvalidArgument, Unimplemented (names the
// feature). After the device is lost, every call fails with the same error until the module is acquired again:
// Aborted (device error, call in a forked child), Unavailable (device server lost) or Cancelled (Interruptible).
class Device {
 public:
  virtual ~Device() = default;

  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  virtual const DeviceInfo& info() const = 0;
  // Constant while the device is held.
  virtual DeviceTraits traits() { return {}; }
  virtual MemoryInfo memory_info() const = 0;
  // Zeros if the backend does not measure utilisation. May take milliseconds.
  virtual DeviceUsage usage() const { return {}; }
  // Elapsed time of the oldest running launch. Zero if the backend does not measure run times.
  virtual std::chrono::nanoseconds longest_launch() { return {}; }

  // `bytes` > 0. Contents are undefined.
  virtual absl::StatusOr<std::unique_ptr<Memory>> AllocateMemory(uint64_t bytes) = 0;
  // Host memory that the device can access; page aligned, `bytes` > 0.
  virtual absl::StatusOr<std::unique_ptr<HostBuffer>> AllocateHost(uint64_t bytes) = 0;
  // Makes the caller's memory accessible to the device. Ranges may overlap.
  virtual absl::StatusOr<std::unique_ptr<HostBuffer>> MapHost(void* data, uint64_t bytes) = 0;

  virtual absl::StatusOr<std::unique_ptr<Stream>> CreateStream(StreamKind kind) = 0;
  virtual absl::StatusOr<std::unique_ptr<Event>> CreateEvent() = 0;

  // Compiles on the calling thread; may take seconds. Several threads may compile concurrently.
  virtual absl::StatusOr<std::shared_ptr<const Recipe>> Compile(const Program& program) = 0;
  // Inverse of Recipe::Serialize. InvalidArgument if the bytes are damaged or of another format. FailedPrecondition if
  // the recipe belongs to another target.
  virtual absl::StatusOr<std::shared_ptr<const Recipe>> LoadRecipe(absl::string_view name, absl::string_view bytes) = 0;

  // Id for a new communicator. Only one process of the communicator calls this function. Unimplemented if the backend
  // has no collectives.
  virtual absl::StatusOr<std::string> CreateCommunicatorId() = 0;
  // Blocks until all ranks have called CreateCommunicator.
  virtual absl::StatusOr<std::unique_ptr<Communicator>> CreateCommunicator(const CommunicatorOptions& options) = 0;

  // Waits for all streams, but neither returns nor clears their errors.
  virtual absl::Status Synchronize() = 0;

 protected:
  Device() = default;
};

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_HAL_DEVICE_H_
