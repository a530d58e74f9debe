// RowFunction: a call of a function that loops over arrays of any size (row_loop.h), wrapped as a kernel.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_ROW_FUNCTION_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_ROW_FUNCTION_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plugin/backends/emulator/codegen/recipe_parts.h"
#include "plugin/backends/emulator/codegen/row_loop.h"
#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// The result may share the memory of the argument that it aliases.
class RowFunction : public Kernel {
 public:
  // `entry` is the loaded function of the object in `parts`. Both and `loop` must outlive the kernel.
  RowFunction(const FunctionParts& parts, const RowLoop& loop, void* entry);

  absl::Status Run(const KernelCall& call) const override;

 private:
  // Bytes of an element of the operand.
  uint64_t WidthOf(size_t operand) const;

  const FunctionParts& parts_;
  const RowLoop& loop_;
  void* const entry_;
  int64_t row_ = 0;                      // elements of a row; 0 if no operand is repeated
  std::vector<uint64_t> operand_bytes_;  // sizes of the operands of a call
  std::vector<uint64_t> strides_;        // bytes between rows of each buffer; 0 if all rows share it
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_ROW_FUNCTION_H_
