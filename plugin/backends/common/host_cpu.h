// HostCpu: this machine's CPU, as LLVM's code generators see it.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_HOST_CPU_H_
#define HPU_PLUGIN_BACKENDS_COMMON_HOST_CPU_H_

#include <string>

namespace hpu::common {

struct HostCpu {
  std::string name;      // LLVM's name, "skylake-avx512"; "generic" for a CPU that is newer than this LLVM
  std::string features;  // "+avx2,-avx512f,…": all features that LLVM recognises, sorted
};

// Detected once. Thread safe.
const HostCpu& GetHostCpu();

}  // namespace hpu::common

#endif  // HPU_PLUGIN_BACKENDS_COMMON_HOST_CPU_H_
