// Forward declarations in place of XLA's header, whose inline functions need LLVM (see ../../../README.md).
#ifndef HPU_PLUGIN_COMPAT_TF_2_15_LLVM_XLA_SERVICE_CPU_TARGET_MACHINE_FEATURES_H_
#define HPU_PLUGIN_COMPAT_TF_2_15_LLVM_XLA_SERVICE_CPU_TARGET_MACHINE_FEATURES_H_

namespace xla::cpu {
class TargetMachineFeatures;
class LLVMTargetMachineFeatures;
}  // namespace xla::cpu

#endif  // HPU_PLUGIN_COMPAT_TF_2_15_LLVM_XLA_SERVICE_CPU_TARGET_MACHINE_FEATURES_H_
