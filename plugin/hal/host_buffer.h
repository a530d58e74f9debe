// HostBuffer: host memory that the device may reach.
#ifndef HPU_PLUGIN_HAL_HOST_BUFFER_H_
#define HPU_PLUGIN_HAL_HOST_BUFFER_H_

#include <cstdint>

namespace hpu::hal {

// The card copies only from and to memory that was allocated or mapped for it. Device::AllocateHost makes an owning
// one, Device::MapHost one over memory of the caller, which must outlive it. Destruction unmaps (and frees); work that
// is queued on the range must have finished. Thread safe. Must not outlive the Device that made it.
class HostBuffer {
 public:
  virtual ~HostBuffer() = default;

  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;

  virtual void* data() const = 0;
  virtual uint64_t size() const = 0;  // bytes

 protected:
  HostBuffer() = default;
};

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_HAL_HOST_BUFFER_H_
