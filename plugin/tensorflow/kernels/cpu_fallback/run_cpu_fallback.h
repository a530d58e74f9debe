// RunCpuFallback: execution of a kernel's op on the CPU instead of the device.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_RUN_CPU_FALLBACK_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_RUN_CPU_FALLBACK_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "plugin/tensorflow/device/process_device.h"
#include "plugin/tensorflow/kernels/cpu_fallback/cpu_fallback.h"
#include "plugin/tensorflow/kernels/kernel_arguments.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"

namespace hpu {

// Returns `tensor` if its data are in host memory, otherwise a host copy. Waits for the device.
absl::StatusOr<tensorflow::Tensor> HostCopyOf(ProcessDevice& device, const tensorflow::Tensor& tensor);

// What an error during the run leaves of the variables.
enum class UpdatesOnError {
  kNone,  // their values before the run, unless the device fails
  kSome,  // some new values, as on TensorFlow's CPU device; saves copies if the host can access device memory
};

// Runs `program` on the inputs and variables in host memory, sets the context's outputs, and writes changed variables
// back. The caller holds the variables' locks. Returns the number of bytes copied between host and device. If a CPU
// kernel cannot allocate memory, the error is ResourceExhausted, names the op and the remedy, and satisfies
// IsHostMemoryExhausted().
absl::StatusOr<uint64_t> RunCpuFallback(tensorflow::OpKernelContext* context, ProcessDevice& device,
                                        CpuFallback& program, const KernelArguments& arguments,
                                        UpdatesOnError updates_on_error = UpdatesOnError::kNone);

// Whether RunCpuFallback() failed because host memory, not device memory, is exhausted.
bool IsHostMemoryExhausted(const absl::Status& status);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_RUN_CPU_FALLBACK_H_
