// SessionLimits: what one client may have of the server.
#ifndef HPU_PLUGIN_SERVER_SERVICE_LIMITS_H_
#define HPU_PLUGIN_SERVER_SERVICE_LIMITS_H_

#include <cstdint>

namespace hpu::serve {

struct SessionLimits {
  uint64_t memory_bytes = 0;                       // of device memory; 0: what it asks for
  uint64_t recipes = uint64_t{1} << 14;            // that it may use at a time
  uint64_t recipe_bytes = uint64_t{8} << 30;       // of these recipes
  uint64_t in_flight_bytes = (uint64_t{2} << 30);  // programs and recipes on their way, data of copies
};

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_SERVICE_LIMITS_H_
