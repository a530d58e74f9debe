// Allocators of device memory and of host memory for TensorFlow's HPU devices.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_HPU_ALLOCATOR_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_HPU_ALLOCATOR_H_

#include <cstdint>
#include <string>

#include "tensorflow/core/framework/allocator.h"

namespace hpu {

// Device memory. The first allocation acquires the device.
//
// An allocator cannot report an error: TensorFlow treats every failure as exhausted memory. If the device cannot be
// acquired, this allocator therefore returns an address that must not be accessed. The copy or kernel that uses the
// address then reports the real error.
tensorflow::Allocator* DeviceAllocator();
// Whether `data` is an address that DeviceAllocator() returned without a device.
bool IsWithoutDevice(const void* data);

// Host memory for tensors that are copied to or from the device. Once the device is acquired, tensors of 4 KiB or more
// use the host pool while the pool has room. All other tensors use CPU memory that the device cannot access.
tensorflow::Allocator* HostAllocator();

// Hint for messages about a failed allocation: "12.0 GiB requested, 25.00 GiB of 32.00 GiB in use …; raise
// HPU_MEMORY_MB …".
std::string MemoryExhaustedHint(uint64_t asked_bytes);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_HPU_ALLOCATOR_H_
