// CompiledFunction: an outlined function of a recipe, wrapped as a kernel.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_COMPILED_FUNCTION_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_COMPILED_FUNCTION_H_

#include <cstdint>
#include <vector>

#include "plugin/backends/emulator/codegen/recipe_parts.h"
#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Results may share the memory of the arguments that they alias.
class CompiledFunction : public Kernel {
 public:
  // `entry` is the loaded function of the object in `parts`; both must outlive the kernel.
  CompiledFunction(const FunctionParts& parts, void* entry);

  int results() const override { return static_cast<int>(parts_.table.results.size()); }
  absl::Status Run(const KernelCall& call) const override;

 private:
  const FunctionParts& parts_;
  void* const entry_;
  std::vector<uint64_t> operand_bytes_;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_COMPILED_FUNCTION_H_
