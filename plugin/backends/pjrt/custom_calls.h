// CheckCustomCalls: refusal of custom calls that plugins cannot compile.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_CUSTOM_CALLS_H_
#define HPU_PLUGIN_BACKENDS_PJRT_CUSTOM_CALLS_H_

#include "absl/status/status.h"
#include "plugin/hal/device.h"

namespace hpu::pjrt {

// Fails with Unimplemented if the program calls a user kernel, which is a function for the CPU that only the emulator
// calls. The error names the op and the kernel. Other custom calls are the plugin's matter.
absl::Status CheckCustomCalls(const hal::Program& program);

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_CUSTOM_CALLS_H_
