// HLO of custom kernels, with lookup by guid.
#ifndef HPU_PLUGIN_TENSORFLOW_CUSTOM_HLO_KERNELS_H_
#define HPU_PLUGIN_TENSORFLOW_CUSTOM_HLO_KERNELS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/include/habanalabs/hpu_hlo_kernel.h"

namespace hpu {

// Adds the kernel to the program. A kernel that is built in or registered by a library becomes HLO. Any other kernel
// becomes a custom call, which the backend resolves (user_kernels.h). InvalidArgument if the results do not match the
// declared outputs. Thread safe.
absl::StatusOr<std::vector<xla::XlaOp>> BuildKernel(const std::string& guid, const habana::HloKernelCall& call);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_CUSTOM_HLO_KERNELS_H_
