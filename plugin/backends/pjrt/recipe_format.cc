#include "plugin/backends/pjrt/recipe_format.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "plugin/base/status_macros.h"
#include "tsl/lib/hash/crc32c.h"
#include "xla/service/hlo.pb.h"

namespace hpu::pjrt {
namespace {

// Magic, CRC-32C of the rest (4 bytes), size of the temporaries (8 bytes), then three parts, each with its length (8
// bytes). The parts are the target, the signature (an xla::HloModuleProto without computations), and the plugin's
// executable.
constexpr absl::string_view kMagic = "HPU PJRT recipe 1\n";

absl::Status Damaged(absl::string_view name, absl::string_view how) {
  return absl::InvalidArgumentError(absl::StrCat("recipe ", name, ": ", how, "; recompile it"));
}

template <typename Number>
void AppendNumber(std::string* bytes, Number number) {
  bytes->append(reinterpret_cast<const char*>(&number), sizeof(number));
}

template <typename Number>
bool ConsumeNumber(absl::string_view* bytes, Number* number) {
  if (bytes->size() < sizeof(*number)) return false;
  std::memcpy(number, bytes->data(), sizeof(*number));
  bytes->remove_prefix(sizeof(*number));
  return true;
}

void AppendPart(std::string* bytes, absl::string_view part) {
  AppendNumber(bytes, uint64_t{part.size()});
  bytes->append(part.data(), part.size());
}

bool ConsumePart(absl::string_view* bytes, absl::string_view* part) {
  uint64_t size = 0;
  if (!ConsumeNumber(bytes, &size) || bytes->size() < size) return false;
  *part = bytes->substr(0, size);
  bytes->remove_prefix(size);
  return true;
}

// The parts of the program from which MakeProgramTable builds the table.
std::string Signature(const std::string& hlo) {
  xla::HloModuleProto module;
  module.ParseFromString(hlo);
  xla::HloModuleProto signature;
  signature.set_name(module.name());
  *signature.mutable_host_program_shape() = module.host_program_shape();
  *signature.mutable_input_output_alias() = module.input_output_alias();
  return signature.SerializeAsString();
}

}  // namespace

std::string SerializeRecipe(absl::string_view target, const hal::Program& program, uint64_t temporary_bytes,
                            absl::string_view code) {
  std::string rest;
  AppendNumber(&rest, temporary_bytes);
  AppendPart(&rest, target);
  AppendPart(&rest, Signature(program.hlo));
  AppendPart(&rest, code);
  std::string bytes(kMagic);
  AppendNumber(&bytes, uint32_t{tsl::crc32c::Value(rest.data(), rest.size())});
  return bytes + rest;
}

absl::StatusOr<RecipeParts> ParseRecipe(absl::string_view target, absl::string_view name, absl::string_view bytes) {
  if (!absl::ConsumePrefix(&bytes, kMagic)) return Damaged(name, "not a serialised recipe of the PJRT backend");
  uint32_t checksum = 0;
  if (!ConsumeNumber(&bytes, &checksum)) return Damaged(name, "truncated");
  if (tsl::crc32c::Value(bytes.data(), bytes.size()) != checksum) return Damaged(name, "its checksum is wrong");
  RecipeParts parts;
  absl::string_view recipe_target;
  absl::string_view signature;
  if (!ConsumeNumber(&bytes, &parts.temporary_bytes) || !ConsumePart(&bytes, &recipe_target) ||
      !ConsumePart(&bytes, &signature) || !ConsumePart(&bytes, &parts.code) || !bytes.empty()) {
    return Damaged(name, "the lengths of the parts do not match the length of the recipe");
  }
  if (recipe_target != target) {
    return absl::FailedPreconditionError(
        absl::StrCat("recipe ", name, " was compiled for ", recipe_target, ", expected ", target, "; recompile it"));
  }
  xla::HloModuleProto module;
  if (!module.ParseFromArray(signature.data(), static_cast<int>(signature.size()))) {
    return Damaged(name, "invalid signature: not a serialised HloModuleProto");
  }
  HPU_ASSIGN_OR_RETURN(parts.table, MakeProgramTable(module));
  return parts;
}

}  // namespace hpu::pjrt
