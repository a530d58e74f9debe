// CopyUncached: memcpy with non-temporal stores, for data that is not read soon.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_UNCACHED_COPY_H_
#define HPU_PLUGIN_BACKENDS_COMMON_UNCACHED_COPY_H_

#include <cstdint>

namespace hpu::common {

// As memcpy, but writes of large copies bypass the CPU's caches: the destination is not read before the write and
// evicts no cached data. The ranges must not overlap.
void CopyUncached(void* destination, const void* source, uint64_t bytes);

}  // namespace hpu::common

#endif  // HPU_PLUGIN_BACKENDS_COMMON_UNCACHED_COPY_H_
