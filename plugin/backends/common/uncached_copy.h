// CopyUncached: memcpy for data that will not be read soon.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_UNCACHED_COPY_H_
#define HPU_PLUGIN_BACKENDS_COMMON_UNCACHED_COPY_H_

#include <cstdint>

namespace hpu::common {

// As memcpy, but a large destination does not go through the CPU's caches: memory is written without being read first,
// and what the caches hold stays there. The ranges must not overlap.
void CopyUncached(void* destination, const void* source, uint64_t bytes);

}  // namespace hpu::common

#endif  // HPU_PLUGIN_BACKENDS_COMMON_UNCACHED_COPY_H_
