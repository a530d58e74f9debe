#include "plugin/backends/pjrt/recipe.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/backends/pjrt/compile_options.h"
#include "plugin/backends/pjrt/custom_calls.h"
#include "plugin/backends/pjrt/recipe_payload.h"
#include "plugin/base/status_macros.h"

namespace hpu::pjrt {
namespace {

// Code of a failed compilation. CUDA plugins run parts of the program to select kernels. If that exhausts the card's
// memory, the error has the code NOT_FOUND, and only its text names the cause.
absl::StatusCode CodeOf(const absl::Status& error) {
  return absl::StrContains(error.message(), "RESOURCE_EXHAUSTED") ? absl::StatusCode::kResourceExhausted : error.code();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const PjrtRecipe>> PjrtRecipe::Compile(const Client& client, const std::string& target,
                                                                      const hal::Program& program) {
  HPU_ASSIGN_OR_RETURN(ProgramTable table, ParseProgramTable(program.name, program.hlo));
  HPU_RETURN_IF_ERROR(CheckCustomCalls(program));
  HPU_ASSIGN_OR_RETURN(const std::string options, CompileOptions(client.plugin().path(), program.hlo, target));
  auto executable = client.Compile(program.hlo, options);
  if (!executable.ok()) {
    return absl::Status(CodeOf(executable.status()),
                        absl::StrCat("compilation of ", program.name, ": ", executable.status().message()));
  }
  std::string serialized;
  if (const auto code = (*executable)->Serialize(); code.ok()) {
    serialized = SerializeRecipe(target, {table, (*executable)->temporary_bytes(), *code});
  }
  return std::make_shared<const PjrtRecipe>(program.name, std::move(table), std::move(serialized),
                                            std::move(executable).value());
}

absl::StatusOr<std::shared_ptr<const PjrtRecipe>> PjrtRecipe::Load(const Client& client, const std::string& target,
                                                                   absl::string_view name, absl::string_view bytes) {
  HPU_ASSIGN_OR_RETURN(RecipeParts parts, ParseRecipe(target, name, bytes));
  auto executable = client.Load(parts.code);
  if (!executable.ok()) {
    return absl::FailedPreconditionError(absl::StrCat("recipe ", name, " cannot be loaded by ", client.plugin().path(),
                                                      ": ", executable.status().message(), "; recompile it"));
  }
  return std::make_shared<const PjrtRecipe>(std::string(name), std::move(parts.table), std::string(bytes),
                                            std::move(executable).value());
}

absl::StatusOr<std::string> PjrtRecipe::Serialize() const {
  if (serialized_.empty())
    return absl::UnimplementedError(
        absl::StrCat("recipe ", name_,
                     " cannot be stored: the PJRT plugin cannot serialise programs; install another "
                     "plugin release"));
  return serialized_;
}

}  // namespace hpu::pjrt
