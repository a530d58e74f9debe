#include "plugin/backends/emulator/codegen/loaded_code.h"

#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "plugin/backends/emulator/codegen/object/compiled_function.h"
#include "plugin/backends/emulator/codegen/object/object_loader.h"
#include "plugin/backends/emulator/codegen/object/row_function.h"
#include "plugin/backends/emulator/codegen/object/runtime_symbols.h"
#include "plugin/base/status_macros.h"

namespace hpu::emulator {
namespace {

class ObjectCode final : public LoadedCode {
 public:
  explicit ObjectCode(std::unique_ptr<LoadedObject> object) : object_(std::move(object)) {}

  void* entry() const override { return object_->entries()[0]; }

  void AddFunctions(const RecipeParts& parts, RecipeKernels* kernels) const override {
    for (size_t i = 0; i < parts.functions.size(); ++i) {
      kernels->Add(std::make_unique<CompiledFunction>(parts.functions[i], object_->entries()[i + 1]));
    }
    for (const RowLoop& loop : parts.row_loops) {
      void* const entry = object_->entries()[loop.function + 1];
      kernels->Add(std::make_unique<RowFunction>(parts.functions[loop.function], loop, entry));
    }
  }

 private:
  const std::unique_ptr<LoadedObject> object_;  // its entries: the recipe's own, then those of the functions
};

}  // namespace

absl::StatusOr<std::unique_ptr<LoadedCode>> LoadedCode::Load(const RecipeParts& parts) {
  std::vector<absl::string_view> codes = {parts.object};
  for (const FunctionParts& function : parts.functions) codes.push_back(function.object);
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<LoadedObject> object,
                       LoadedObject::Load(codes, kRecipeEntry, FindRuntimeSymbol));
  return std::make_unique<ObjectCode>(std::move(object));
}

}  // namespace hpu::emulator
