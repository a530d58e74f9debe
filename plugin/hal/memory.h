// Memory: one owned range of device memory.
#ifndef HPU_PLUGIN_HAL_MEMORY_H_
#define HPU_PLUGIN_HAL_MEMORY_H_

#include <cstdint>

#include "plugin/hal/types.h"

namespace hpu::hal {

// The destructor frees the range after all queued work on the range has ended, so the destructor may block. Thread
// safe. Must not outlive its Device.
class Memory {
 public:
  virtual ~Memory() = default;

  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // First byte; a multiple of kDeviceAlignment. Never 0.
  virtual DeviceAddress address() const = 0;
  // Requested size in bytes.
  virtual uint64_t size() const = 0;

 protected:
  Memory() = default;
};

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_HAL_MEMORY_H_
