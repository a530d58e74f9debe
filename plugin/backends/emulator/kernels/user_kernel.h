// Kernel that calls a user kernel (a C function of a user's library).
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_USER_KERNEL_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_USER_KERNEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Operands and results have the types and dimensions below.
struct UserKernelCall {
  struct Array {
    int64_t type;  // hpu_host_type
    std::vector<int64_t> dimensions;
  };
  std::string guid;
  std::string params;
  std::vector<Array> operands;
  std::vector<Array> results;

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_USER_KERNEL_H_
