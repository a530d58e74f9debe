// Lookup of custom kernels: builds HLO from a kernel's guid.
#ifndef HPU_PLUGIN_TENSORFLOW_CUSTOM_HLO_KERNELS_H_
#define HPU_PLUGIN_TENSORFLOW_CUSTOM_HLO_KERNELS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/include/habanalabs/hpu_hlo_kernel.h"

namespace hpu {

// Adds the kernel to the program: as HLO if a library has registered or the plugin contains it, otherwise as a call
// that the backend resolves (host_kernels.h). InvalidArgument if the results do not match the outputs that the op
// declared. Thread safe.
absl::StatusOr<std::vector<xla::XlaOp>> BuildKernel(const std::string& guid, const habana::HloKernelCall& call);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_CUSTOM_HLO_KERNELS_H_
