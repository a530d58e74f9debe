// LoadedCode: generated code of a recipe, loaded into this process.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_LOADED_CODE_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_LOADED_CODE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "plugin/backends/emulator/codegen/recipe_parts.h"
#include "plugin/backends/emulator/kernels/recipe_kernels.h"

namespace hpu::emulator {

// Of objects or thunks (code_generator.h). Immutable; unloaded on destruction.
class LoadedCode {
 public:
  // Loads the code of a recipe and of its functions; `parts` may be freed afterwards. Fails with InvalidArgument if the
  // code is damaged, and with NotFound if it calls functions that the process lacks.
  static absl::StatusOr<std::unique_ptr<LoadedCode>> Load(const RecipeParts& parts);
  virtual ~LoadedCode() = default;

  // The recipe's own code, for CodeTables::Call.
  virtual void* entry() const = 0;
  // Adds the functions and row loops of `parts` to its kernels. `parts` and this object must outlive them.
  virtual void AddFunctions(const RecipeParts& parts, RecipeKernels* kernels) const = 0;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_LOADED_CODE_H_
