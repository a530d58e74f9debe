#include "plugin/backends/emulator/codegen/code_generator.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "xla/service/platform_util.h"

namespace hpu::emulator {

xla::Compiler& XlaCompiler() {
  static auto* compiler =
      xla::Compiler::GetForPlatform(xla::PlatformUtil::GetPlatform("Host").value()->id()).value().release();
  return *compiler;
}

absl::StatusOr<RecipeParts> GenerateCode(std::unique_ptr<xla::HloModule> module, ProgramTable table,
                                         std::vector<std::unique_ptr<xla::HloModule>> functions) {
  return absl::UnimplementedError(absl::StrCat("the emulator does not run on TensorFlow ", HPU_TENSORFLOW_VERSION,
                                               " yet: its XLA generates thunks, which the emulator cannot load; set "
                                               "HPU_BACKEND to another backend, as pjrt:cpu"));
}

}  // namespace hpu::emulator
