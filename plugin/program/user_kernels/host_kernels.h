// User kernels from the libraries that GC_KERNEL_PATH names.
#ifndef HPU_PLUGIN_PROGRAM_USER_KERNELS_HOST_KERNELS_H_
#define HPU_PLUGIN_PROGRAM_USER_KERNELS_HOST_KERNELS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/include/habanalabs/hpu_host_kernel.h"

namespace hpu {

// Target of HLO custom calls of user kernels; the call's opaque string is HostKernelCallText().
inline constexpr char kHostKernelTarget[] = "hpu_host_kernel";

// The guid, a zero byte and the parameters.
std::string HostKernelCallText(const std::string& guid, const std::string& params);

// Loads the named libraries that are not loaded yet; their initialisers may register further kernels. NotFound or
// FailedPrecondition name an unusable library and the reason. Thread safe.
absl::Status LoadKernelLibraries();

// Loads the libraries first. NotFound names the places that were searched. Thread safe.
absl::StatusOr<hpu_host_function> FindHostKernel(const std::string& guid);

}  // namespace hpu

#endif  // HPU_PLUGIN_PROGRAM_USER_KERNELS_HOST_KERNELS_H_
