// Forward declaration of llvm::TargetOptions (see ../../README.md).
#ifndef HPU_PLUGIN_COMPAT_TF_2_21_LLVM_LLVM_TARGET_TARGETOPTIONS_H_
#define HPU_PLUGIN_COMPAT_TF_2_21_LLVM_LLVM_TARGET_TARGETOPTIONS_H_

namespace llvm {
class TargetOptions;
}  // namespace llvm

#endif  // HPU_PLUGIN_COMPAT_TF_2_21_LLVM_LLVM_TARGET_TARGETOPTIONS_H_
