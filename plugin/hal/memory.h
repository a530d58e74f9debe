// Memory: one owned range of device memory.
#ifndef HPU_PLUGIN_HAL_MEMORY_H_
#define HPU_PLUGIN_HAL_MEMORY_H_

#include <cstdint>

#include "plugin/hal/types.h"

namespace hpu::hal {

// Destruction frees the range after the work already queued on the device's streams has finished with it: it may wait.
// Thread safe. Must not outlive the Device that made it.
class Memory {
 public:
  virtual ~Memory() = default;

  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // First byte; a multiple of kDeviceAlignment. Never 0.
  virtual DeviceAddress address() const = 0;
  // Bytes, as asked for.
  virtual uint64_t size() const = 0;

 protected:
  Memory() = default;
};

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_HAL_MEMORY_H_
