// A PJRT plugin for tests that forwards calls to another plugin, fails chosen launches and reports chosen statistics.
#ifndef HPU_PLUGIN_TESTING_FORWARDING_PJRT_H_
#define HPU_PLUGIN_TESTING_FORWARDING_PJRT_H_

#include <stdint.h>

#include "pjrt_c_api.h"

#define HPU_FORWARDING_EXPORT __attribute__((visibility("default")))

namespace hpu::pjrt::forwarding_pjrt {

extern "C" {

// Returns a copy of the function table `real`, whose functions the calls below control. The copy is never freed. All
// copies of a process must forward to the same plugin. The source file needs only `pjrt_c_api.h`, so tests in Python
// compile it as a plugin: -DHPU_FORWARDED_PLUGIN='"/path/of/the/real/plugin.so"' makes it export GetPjrtApi.
HPU_FORWARDING_EXPORT PJRT_Api* ForwardingApi(const PJRT_Api* real);

// Makes the launch after `successes` further launches fail with RESOURCE_EXHAUSTED. If `consumes` is not zero, the
// failed launch has already consumed its donated arguments, as the launches of some plugins have. Thread safe.
HPU_FORWARDING_EXPORT void FailLaunch(int successes, int consumes);

// Figures that PJRT_Device_MemoryStats reports; a negative figure is not reported. By default, and if `in_use` is
// negative, the real plugin answers. Thread safe.
HPU_FORWARDING_EXPORT void SetMemoryStats(int64_t in_use, int64_t peak, int64_t limit, int64_t largest_free_block,
                                          int64_t pool, int64_t allocations);

}  // extern "C"

}  // namespace hpu::pjrt::forwarding_pjrt

#endif  // HPU_PLUGIN_TESTING_FORWARDING_PJRT_H_
