// DeviceTraits: optional capabilities of a device.
#ifndef HPU_PLUGIN_HAL_DEVICE_TRAITS_H_
#define HPU_PLUGIN_HAL_DEVICE_TRAITS_H_

#include <cstdint>

namespace hpu::hal {

// Writes results of launches directly to host memory, so that results for the host need no copy. Thread safe.
class HostResults {
 public:
  // Alignment of host addresses of results. The memory up to the next multiple may be overwritten.
  static constexpr uint64_t kHostResultAlignment = 64;

  virtual ~HostResults() = default;

  // Allows addresses of mapped host memory in LaunchArguments::results, except for results that alias an argument.
  // Without this call a host address is an error, as on every device: a server's device gets addresses from clients,
  // which must not reach the server's memory.
  virtual void TakeHostResults() = 0;

 protected:
  HostResults() = default;
};

// Interrupts a wait for running work. Thread safe.
class Interruptible {
 public:
  virtual ~Interruptible() = default;

  // Ends a current wait for work: the device is lost, with Cancelled. Does nothing if no thread waits.
  virtual void Interrupt() = 0;

 protected:
  Interruptible() = default;
};

// Facts about a device and its optional interfaces; null where it lacks one. The interfaces live as long as the device.
struct DeviceTraits {
  // Stream::CopyToDevice has read its source when it returns, and MapHost costs nothing. Callers may reuse the source
  // at once and gain nothing from a copy of their own.
  bool copies_are_staged = false;
  HostResults* host_results = nullptr;
  Interruptible* interruptible = nullptr;
};

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_HAL_DEVICE_TRAITS_H_
