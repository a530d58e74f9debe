// SessionLimits: resource limits of one session of a device server.
#ifndef HPU_PLUGIN_SERVER_SERVICE_LIMITS_H_
#define HPU_PLUGIN_SERVER_SERVICE_LIMITS_H_

#include <cstdint>

namespace hpu::serve {

struct SessionLimits {
  uint64_t memory_bytes = 0;                       // device memory; 0: as much as the client requests
  uint64_t recipes = uint64_t{1} << 14;            // recipes in use at a time
  uint64_t recipe_bytes = uint64_t{8} << 30;       // total size of these recipes
  uint64_t in_flight_bytes = (uint64_t{2} << 30);  // programs and recipes in transfer, data of copies
};

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_SERVICE_LIMITS_H_
