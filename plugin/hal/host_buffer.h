// HostBuffer: host memory that the device can access.
#ifndef HPU_PLUGIN_HAL_HOST_BUFFER_H_
#define HPU_PLUGIN_HAL_HOST_BUFFER_H_

#include <cstdint>

namespace hpu::hal {

// The card copies only from and to host memory that was allocated or mapped for the card. Device::AllocateHost returns
// an owning buffer. Device::MapHost returns a buffer over the caller's memory, which must outlive the buffer. The
// destructor unmaps the range and frees owned memory. Work queued on the range must end before destruction. Thread
// safe. Must not outlive its Device.
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
