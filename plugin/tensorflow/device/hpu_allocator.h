// The allocators that HPU Device objects provide to TensorFlow.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_HPU_ALLOCATOR_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_HPU_ALLOCATOR_H_

#include <cstdint>
#include <string>

#include "tensorflow/core/framework/allocator.h"

namespace hpu {

// Device memory. The first allocation acquires the device.
//
// TensorFlow's allocators cannot report an error: TensorFlow takes every failure for exhausted memory. So if the device
// cannot be acquired, this allocator returns an address that must not be accessed. The copy or kernel that uses the
// address then reports the true error.
tensorflow::Allocator* DeviceAllocator();
// Whether `data` is an address that DeviceAllocator() returned without a device.
bool IsWithoutDevice(const void* data);

// Host memory for tensors that are copied to or from the device. The device can access it once the device is acquired,
// while the pool has room. Otherwise it is plain CPU memory.
tensorflow::Allocator* HostAllocator();

// Hint for messages about a failed allocation: "12.0 GiB requested, 25.00 GiB of 32.00 GiB in use …; raise
// HPU_MEMORY_MB …".
std::string MemoryExhaustedHint(uint64_t asked_bytes);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_HPU_ALLOCATOR_H_
