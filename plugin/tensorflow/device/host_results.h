// Launch results that the device writes directly to host memory.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_HOST_RESULTS_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_HOST_RESULTS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "plugin/tensorflow/device/process_device.h"

namespace hpu {

// Whether a launch on compute() may write a result of `bytes` bytes to this host address.
bool SupportsHostResult(ProcessDevice& device, const void* data, uint64_t bytes);

// Waits for the compute work queued so far, including the launch that writes the results. Returns the error of the
// compute work, and clears the error for later work.
absl::Status WaitForHostResults(ProcessDevice& device);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_HOST_RESULTS_H_
