// See ../../../README.md. Takes the place of XLA's own header, whose inline functions need LLVM.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_LLVM_SHIM_XLA_SERVICE_CPU_TARGET_MACHINE_FEATURES_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_LLVM_SHIM_XLA_SERVICE_CPU_TARGET_MACHINE_FEATURES_H_

namespace xla::cpu {
class TargetMachineFeatures;
class LLVMTargetMachineFeatures;
}  // namespace xla::cpu

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_LLVM_SHIM_XLA_SERVICE_CPU_TARGET_MACHINE_FEATURES_H_
