// Processes that hold a device of the habanalabs driver, for messages.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_DRIVER_HOLDERS_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_DRIVER_HOLDERS_H_

#include <string>
#include <vector>

namespace hpu::gaudi {

// Other processes with an open device file (/dev/accel/accel0, /dev/hl0), in ascending order of their ids:
// "pid 12 (python train.py) has /dev/accel/accel0". Omits processes whose files this user may not see. A file's module
// is unknown. `proc` is /proc outside tests.
std::vector<std::string> DriverHolders(const std::string& proc = "/proc");

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_DRIVER_HOLDERS_H_
