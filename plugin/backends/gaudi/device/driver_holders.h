// Processes that hold a device of the habanalabs driver, for messages.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_DRIVER_HOLDERS_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_DRIVER_HOLDERS_H_

#include <string>
#include <vector>

namespace hpu::gaudi {

// Other processes with an open device file (/dev/accel/accel0, /dev/hl0), in ascending order of their ids:
// "pid 12 (python train.py) has /dev/accel/accel0". Lacks processes whose files this user may not see, and cannot tell
// which module a file belongs to. `proc` is /proc outside tests.
std::vector<std::string> DriverHolders(const std::string& proc = "/proc");

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_DRIVER_HOLDERS_H_
