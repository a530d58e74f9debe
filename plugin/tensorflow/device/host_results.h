// Results of launches that the device writes to host memory itself.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_HOST_RESULTS_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_HOST_RESULTS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "plugin/tensorflow/device/process_device.h"

namespace hpu {

// Whether a launch on compute() may have a result of so many bytes at this host address.
bool TakesHostResult(ProcessDevice& device, const void* data, uint64_t bytes);

// Waits for the compute work queued so far, after which such results are there; returns its error, and clears it.
absl::Status WaitForHostResults(ProcessDevice& device);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_HOST_RESULTS_H_
