// LoadedCode: generated code of a recipe, loaded into this process.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_LOADED_CODE_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_LOADED_CODE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace hpu::emulator {

// Of objects or thunks (code_generator.h). Immutable; unloaded on destruction.
class LoadedCode {
 public:
  // Loads the code of each CodeParts::code (at least one), which may be freed afterwards. Fails with InvalidArgument if
  // the bytes are damaged, and with NotFound if the code calls functions that the process lacks.
  static absl::StatusOr<std::unique_ptr<LoadedCode>> Load(absl::Span<const absl::string_view> codes);
  virtual ~LoadedCode() = default;

  // What CodeTables::Call takes, in the order of the codes.
  virtual const std::vector<void*>& entries() const = 0;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_LOADED_CODE_H_
