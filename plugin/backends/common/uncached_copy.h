// CopyUncached: memcpy for data that is not read soon.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_UNCACHED_COPY_H_
#define HPU_PLUGIN_BACKENDS_COMMON_UNCACHED_COPY_H_

#include <cstdint>

namespace hpu::common {

// As memcpy, but a large destination bypasses the CPU's caches: memory is written without being read first, and cached
// data is not evicted. The ranges must not overlap.
void CopyUncached(void* destination, const void* source, uint64_t bytes);

}  // namespace hpu::common

#endif  // HPU_PLUGIN_BACKENDS_COMMON_UNCACHED_COPY_H_
