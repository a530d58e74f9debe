// User kernels: loading and lookup of C functions in the libraries of GC_KERNEL_PATH.
#ifndef HPU_PLUGIN_PROGRAM_USER_KERNELS_USER_KERNELS_H_
#define HPU_PLUGIN_PROGRAM_USER_KERNELS_USER_KERNELS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/include/habanalabs/hpu_host_kernel.h"

namespace hpu {

// Custom call target of user kernels. The call's opaque string is UserKernelCallText().
inline constexpr char kUserKernelTarget[] = "hpu_host_kernel";

// The guid, a zero byte and the parameters, concatenated.
std::string UserKernelCallText(const std::string& guid, const std::string& params);

// Loads the libraries in GC_KERNEL_PATH that are not loaded yet. Their initialisers may register HLO kernels. Fails
// with NOT_FOUND or FAILED_PRECONDITION; the error names the library and the reason. Thread safe.
absl::Status LoadKernelLibraries();

// The function of the user kernel `guid`. Loads the libraries first and fails with the errors of LoadKernelLibraries.
// NOT_FOUND if no library defines the kernel; the error names the searched libraries. Thread safe.
absl::StatusOr<hpu_host_function> FindUserKernel(const std::string& guid);

}  // namespace hpu

#endif  // HPU_PLUGIN_PROGRAM_USER_KERNELS_USER_KERNELS_H_
