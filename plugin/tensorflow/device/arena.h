// Arena: a best-fit allocator over an existing range of addresses.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_ARENA_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_ARENA_H_

#include <cstdint>
#include <memory>
#include <string>

#include "tensorflow/core/framework/allocator.h"

namespace hpu {

// TensorFlow's best-fit-with-coalescing allocator over [base, base + bytes). The allocator never reads or writes the
// range. Allocations start at multiples of 256 bytes from `base`. An allocation that does not fit waits up to 10
// seconds for memory to be freed, unless its attributes disable retries (retry_on_failure). The range must outlive the
// allocator.
std::unique_ptr<tensorflow::Allocator> NewArena(void* base, uint64_t bytes, const std::string& name,
                                                tensorflow::AllocatorMemoryType type);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_ARENA_H_
