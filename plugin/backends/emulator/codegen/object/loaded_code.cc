#include "plugin/backends/emulator/codegen/loaded_code.h"

#include <utility>

#include "plugin/backends/emulator/codegen/object_loader.h"
#include "plugin/backends/emulator/codegen/recipe_parts.h"
#include "plugin/backends/emulator/codegen/runtime_symbols.h"
#include "plugin/base/status_macros.h"

namespace hpu::emulator {
namespace {

class ObjectCode final : public LoadedCode {
 public:
  explicit ObjectCode(std::unique_ptr<LoadedObject> object) : object_(std::move(object)) {}

  const std::vector<void*>& entries() const override { return object_->entries(); }

 private:
  const std::unique_ptr<LoadedObject> object_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<LoadedCode>> LoadedCode::Load(absl::Span<const absl::string_view> codes) {
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<LoadedObject> object,
                       LoadedObject::Load(codes, kRecipeEntry, FindRuntimeSymbol));
  return std::make_unique<ObjectCode>(std::move(object));
}

}  // namespace hpu::emulator
