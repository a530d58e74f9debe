// Forward declaration of llvm::Module (see ../../README.md).
#ifndef HPU_PLUGIN_COMPAT_TF_2_15_LLVM_LLVM_IR_MODULE_H_
#define HPU_PLUGIN_COMPAT_TF_2_15_LLVM_LLVM_IR_MODULE_H_

namespace llvm {
class Module;
}  // namespace llvm

#endif  // HPU_PLUGIN_COMPAT_TF_2_15_LLVM_LLVM_IR_MODULE_H_
