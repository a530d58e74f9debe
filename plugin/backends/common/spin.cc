#include "plugin/backends/common/spin.h"

#include <sched.h>

#include <thread>

namespace hpu::common {

int AvailableCpus() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof(mask), &mask) == 0) return CPU_COUNT(&mask);
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace hpu::common
