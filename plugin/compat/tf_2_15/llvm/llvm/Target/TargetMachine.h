// Forward declarations of LLVM's code generator (see ../../README.md).
#ifndef HPU_PLUGIN_COMPAT_TF_2_15_LLVM_LLVM_TARGET_TARGETMACHINE_H_
#define HPU_PLUGIN_COMPAT_TF_2_15_LLVM_LLVM_TARGET_TARGETMACHINE_H_

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
}  // namespace llvm

#endif  // HPU_PLUGIN_COMPAT_TF_2_15_LLVM_LLVM_TARGET_TARGETMACHINE_H_
