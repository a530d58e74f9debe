// LLVM's detection of the host's CPU.
#ifndef HPU_PLUGIN_COMPAT_LLVM_HOST_H_
#define HPU_PLUGIN_COMPAT_LLVM_HOST_H_

#include <string>
#include <vector>

namespace hpu::compat {

struct LlvmHost {
  std::string cpu;                    // LLVM's name of the CPU
  std::vector<std::string> features;  // "+avx2", "-avx512f", …, in no order
};

LlvmHost DetectLlvmHost();

}  // namespace hpu::compat

#endif  // HPU_PLUGIN_COMPAT_LLVM_HOST_H_
