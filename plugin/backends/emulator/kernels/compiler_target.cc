#include "plugin/backends/emulator/kernels/compiler_target.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "plugin/backends/emulator/kernels/kernel.h"
#include "plugin/backends/emulator/kernels/one_dnn.h"
#include "plugin/backends/emulator/threads/compute_pool.h"
#include "plugin/base/flags/flags.h"

namespace hpu::emulator {
namespace {

// Names of the kernels, and whether oneDNN and autotuning are on. Results of oneDNN differ from results of TensorFlow's
// other kernels.
std::string Kernels() {
  if (!flags::EmulatorKernels()) return "none";
  return absl::StrCat(KernelNames(), !IsTargetGeneric() && IsOneDnnOn() ? " by oneDNN" : "",
                      flags::Autotune() ? " by measurement" : "");
}

}  // namespace

bool IsTargetGeneric() {
  static const bool generic = [] {
    if (flags::EmulatorTarget() != flags::EmulatorTargetSetting::kGeneric) return false;
    // XLA multiplies matrices with Eigen, which selects oneDNN code for the processor. Eigen reads the variable at its
    // first product.
    setenv("TENSORFLOW_USE_CUSTOM_CONTRACTION_KERNEL", "0", /*overwrite=*/1);
    return true;
  }();
  return generic;
}

const common::HostCpu& GetTargetCpu() {
  static const auto* any = new common::HostCpu{"x86-64", ""};
  return IsTargetGeneric() ? *any : common::GetHostCpu();
}

std::string CompilerTarget() {
  // Read once per process, as XLA does.
  static const auto* flags = [] {
    const char* value = std::getenv("XLA_FLAGS");
    return new std::string(value == nullptr ? "" : value);
  }();
  const common::HostCpu& cpu = GetTargetCpu();
  return absl::StrCat("emulator 1; tensorflow " HPU_TENSORFLOW_VERSION "; cpu ", cpu.name, " ", cpu.features,
                      "; threads ", ComputePool::DefaultThreads(), "; effort ", flags::CompileEffort(),
                      flags::EmulatorProfile() ? "; timed" : "", "; kernels ", Kernels(), "; flags ", *flags);
}

}  // namespace hpu::emulator
