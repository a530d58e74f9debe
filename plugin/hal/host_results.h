// HostResults: said of a Device that writes results of launches to host memory.
#ifndef HPU_PLUGIN_HAL_HOST_RESULTS_H_
#define HPU_PLUGIN_HAL_HOST_RESULTS_H_

#include <cstdint>

namespace hpu::hal {

// What the host wants need not be copied from a device that is one, too. Thread safe.
class HostResults {
 public:
  // Host addresses of results are multiples of it, and their memory may be written up to the next multiple.
  static constexpr uint64_t kHostResultAlignment = 64;

  virtual ~HostResults() = default;

  // From now on LaunchArguments::results may hold addresses of mapped host memory, but for results that take the
  // place of an argument. Before, a host address is an error, as it is of all devices: a server's device gets its
  // addresses from clients, who have no business in the server's memory.
  virtual void TakeHostResults() = 0;

 protected:
  HostResults() = default;
};

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_HAL_HOST_RESULTS_H_
