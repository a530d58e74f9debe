// Forward declaration of mlir::DictionaryAttr (see ../../README.md).
#ifndef HPU_PLUGIN_COMPAT_TF_2_21_LLVM_MLIR_IR_BUILTINATTRIBUTES_H_
#define HPU_PLUGIN_COMPAT_TF_2_21_LLVM_MLIR_IR_BUILTINATTRIBUTES_H_

namespace mlir {
class DictionaryAttr;
}  // namespace mlir

#endif  // HPU_PLUGIN_COMPAT_TF_2_21_LLVM_MLIR_IR_BUILTINATTRIBUTES_H_
