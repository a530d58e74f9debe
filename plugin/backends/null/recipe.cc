#include "plugin/backends/null/recipe.h"

#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "plugin/base/status_macros.h"
#include "tsl/lib/hash/crc32c.h"

namespace hpu::null {
namespace {

// A serialised recipe: magic, a line with the target, CRC-32C of the rest (4 bytes), the program's HLO.
constexpr absl::string_view kMagic = "HPU null recipe\n";

absl::Status Damaged(absl::string_view name, absl::string_view how) {
  return absl::InvalidArgumentError(absl::StrCat("recipe ", name, ": ", how, "; recompile it"));
}

}  // namespace

std::string CompilerTarget() { return "null-1"; }

absl::StatusOr<std::shared_ptr<const NullRecipe>> NullCompiler::Compile(const hal::Program& program) {
  // Not 0, so that callers allocate and pass a workspace as on a card.
  constexpr uint64_t kWorkspaceBytes = 4096;
  HPU_ASSIGN_OR_RETURN(ProgramTable table, ParseProgramTable(program.name, program.hlo));
  const uint32_t checksum = tsl::crc32c::Value(program.hlo.data(), program.hlo.size());
  std::string serialized =
      absl::StrCat(kMagic, CompilerTarget(), "\n",
                   absl::string_view(reinterpret_cast<const char*>(&checksum), sizeof(checksum)), program.hlo);
  return std::make_shared<const NullRecipe>(program.name, std::move(table), kWorkspaceBytes, std::move(serialized));
}

absl::StatusOr<std::shared_ptr<const NullRecipe>> NullCompiler::Load(absl::string_view name, absl::string_view bytes) {
  if (!absl::ConsumePrefix(&bytes, kMagic)) return Damaged(name, "not a serialised recipe of the null backend");
  const size_t line_end = bytes.find('\n');
  if (line_end == absl::string_view::npos) return Damaged(name, "truncated");
  const absl::string_view target = bytes.substr(0, line_end);
  bytes.remove_prefix(line_end + 1);
  if (target != CompilerTarget()) {
    return absl::FailedPreconditionError(
        absl::StrCat("recipe ", name, " was compiled for ", target, ", expected ", CompilerTarget(), "; recompile it"));
  }
  uint32_t expected = 0;
  if (bytes.size() < sizeof(expected)) return Damaged(name, "truncated");
  std::memcpy(&expected, bytes.data(), sizeof(expected));
  bytes.remove_prefix(sizeof(expected));
  if (tsl::crc32c::Value(bytes.data(), bytes.size()) != expected) return Damaged(name, "its checksum is wrong");
  return Compile(hal::Program{std::string(name), std::string(bytes)});
}

}  // namespace hpu::null
