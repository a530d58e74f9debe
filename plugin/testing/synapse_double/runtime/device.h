// The acquired device: one per process, with its memory.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_DEVICE_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_DEVICE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugin/backends/gaudi/synapse/generation.h"
#include "plugin/testing/synapse_double/runtime/device_memory.h"
#include "plugin/testing/synapse_double/runtime/host_memory.h"
#include "plugin/testing/synapse_double/runtime/module_lock.h"
#include "plugin/testing/synapse_double/runtime/status.h"
#include "plugin/testing/synapse_double/runtime/trace.h"

namespace hpu::synapse_double {

// Generation of all devices of the machine (switch GENERATION).
synapse::Generation GetGeneration();

// Translates device addresses to host memory, for commands that run on a stream. Null unless the range is inside one
// allocation of the acquired device. The memory is valid while a command holds the allocation (HoldDeviceRange).
void* Resolve(uint64_t address, uint64_t bytes);

// Holds the allocation that contains a range, for a command's captures (rule 20). Null if Resolve returns null.
std::shared_ptr<Allocation> HoldDeviceRange(uint64_t address, uint64_t bytes);

// The status that lost the device, or synSuccess.
synStatus DeviceStatus();

// Loses the device: every later call that needs it returns `status` until the device is released.
void LoseDevice(synStatus status);

// "0000:33:00.0"
std::string PciBusId(uint32_t module);

// Thread safe.
class Device {
 public:
  // Acquires the first free module of `modules` for this process.
  static synStatus Acquire(const std::vector<uint32_t>& modules, uint32_t* id);

  // Finds the acquired device. Refuses other ids with synInvalidArgument; returns the device's status if it is lost.
  static synStatus Find(uint32_t id, std::shared_ptr<Device>* device);

  // Destroys the device's communicators, streams, events and memory. Aborts (rule 20) if work is queued. Lost devices
  // can be released.
  static synStatus Release(uint32_t id);

  // The acquired device; null if there is none.
  static std::shared_ptr<Device> Current();

  // Closes the module's lock file in a forked child. Takes no mutex, because a thread that the child lacks may hold it.
  static void ForgetInChild();

  uint32_t id() const { return id_; }
  uint32_t module() const { return module_; }
  DeviceMemory& memory() { return memory_; }
  HostMemory& host_memory() { return host_memory_; }
  Trace& trace() { return trace_; }
  synStatus status() const { return status_; }
  uint64_t NextStreamSerial() { return next_stream_.fetch_add(1); }
  // Returns one bit of the mask, the next one at each call.
  uint64_t NextAffinity(uint64_t mask);

 private:
  friend void LoseDevice(synStatus status);

  Device(uint32_t id, uint32_t module, std::unique_ptr<ModuleLock> lock);

  const uint32_t id_;
  const uint32_t module_;
  const std::unique_ptr<ModuleLock> lock_;
  DeviceMemory memory_;
  HostMemory host_memory_;
  Trace trace_;
  std::atomic<synStatus> status_{synapse::synSuccess};
  std::atomic<uint64_t> next_stream_{0};
  std::atomic<uint64_t> next_affinity_{0};
};

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_DEVICE_H_
