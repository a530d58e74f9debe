// The allocators that HPU Device objects give to TensorFlow.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_HPU_ALLOCATOR_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_HPU_ALLOCATOR_H_

#include <cstdint>
#include <string>

#include "tensorflow/core/framework/allocator.h"

namespace hpu {

// Device memory. The first allocation acquires the device.
//
// TensorFlow's allocators cannot report why they fail, and it takes every failure for exhausted memory. So without a
// device this one gives out an address that nobody may touch; the copy or kernel that comes to use it then reports the
// true error.
tensorflow::Allocator* DeviceAllocator();
// Whether that is such an address.
bool IsWithoutDevice(const void* data);

// Host memory for tensors that meet the device: reachable by it once it is acquired and while the pool has room, the
// CPU's own otherwise.
tensorflow::Allocator* HostAllocator();

// "12.0 GiB asked for, 25.00 GiB of 32.00 GiB in use …; raise HPU_MEMORY_MB …": for messages about a failed allocation.
std::string MemoryExhaustedHint(uint64_t asked_bytes);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_HPU_ALLOCATOR_H_
