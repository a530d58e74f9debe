// Kernels of users, from the libraries that GC_KERNEL_PATH names.
#ifndef HPU_PLUGIN_PROGRAM_USER_KERNELS_HOST_KERNELS_H_
#define HPU_PLUGIN_PROGRAM_USER_KERNELS_HOST_KERNELS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/include/habanalabs/hpu_host_kernel.h"

namespace hpu {

// The target of HLO's custom calls that stand for such a kernel; the call's opaque string is HostKernelCallText().
inline constexpr char kHostKernelTarget[] = "hpu_host_kernel";

// The guid, a zero byte and the parameters.
std::string HostKernelCallText(const std::string& guid, const std::string& params);

// Loads the libraries that are named now and were not loaded yet; what they register by themselves is registered then.
// NotFound or FailedPrecondition name a library that cannot be used, and why. Thread safe.
absl::Status LoadKernelLibraries();

// Loads the libraries first. NotFound says where was looked. Thread safe.
absl::StatusOr<hpu_host_function> FindHostKernel(const std::string& guid);

}  // namespace hpu

#endif  // HPU_PLUGIN_PROGRAM_USER_KERNELS_HOST_KERNELS_H_
