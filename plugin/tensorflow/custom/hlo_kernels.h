// From the guid of a kernel to HLO.
#ifndef HPU_PLUGIN_TENSORFLOW_CUSTOM_HLO_KERNELS_H_
#define HPU_PLUGIN_TENSORFLOW_CUSTOM_HLO_KERNELS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/include/habanalabs/hpu_hlo_kernel.h"

namespace hpu {

// Adds the kernel to the program: by the HLO that is built in or that a library registered, else as a call that the
// backend resolves (host_kernels.h). InvalidArgument where results are not what the op said of its outputs. Thread
// safe.
absl::StatusOr<std::vector<xla::XlaOp>> BuildKernel(const std::string& guid, const habana::HloKernelCall& call);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_CUSTOM_HLO_KERNELS_H_
