// Target CPU of generated code: this machine's CPU, as XLA's just-in-time compiler sees it, or any x86-64 CPU.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_COMPILER_TARGET_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_COMPILER_TARGET_H_

#include <string>

#include "plugin/backends/common/host_cpu.h"

namespace hpu::emulator {

// Whether code is generated for any x86-64 CPU. True with HPU_EMULATOR_TARGET=generic; the variable is read at the
// first call. Thread safe.
bool IsTargetGeneric();

// The CPU that code is generated for. Thread safe.
const common::HostCpu& GetTargetCpu();

// The settings that a recipe depends on: backend and TensorFlow version, CPU, number of threads, optimisation level,
// timing, kernels, oneDNN, autotuning, XLA_FLAGS. A recipe loads only if it was compiled with the same string. Thread
// safe.
std::string CompilerTarget();

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_COMPILER_TARGET_H_
