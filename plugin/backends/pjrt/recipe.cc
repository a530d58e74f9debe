#include "plugin/backends/pjrt/recipe.h"

#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "plugin/backends/pjrt/compile_options.h"
#include "plugin/base/status_macros.h"
#include "tsl/lib/hash/crc32c.h"
#include "xla/service/hlo.pb.h"

namespace hpu::pjrt {
namespace {

// A serialised recipe: magic, CRC-32C of the rest (4 bytes), then the length (8 bytes) and the bytes of the target, of
// the entry's signature (an xla::HloModuleProto without instructions' bodies), and of the plugin's executable.
constexpr absl::string_view kMagic = "HPU PJRT recipe 1\n";

absl::Status Damaged(absl::string_view name, absl::string_view how) {
  return absl::InvalidArgumentError(absl::StrCat("recipe ", name, ": ", how, "; recompile it"));
}

void AppendPart(std::string* bytes, absl::string_view part) {
  const uint64_t size = part.size();
  bytes->append(reinterpret_cast<const char*>(&size), sizeof(size));
  bytes->append(part.data(), part.size());
}

bool ConsumePart(absl::string_view* bytes, absl::string_view* part) {
  uint64_t size = 0;
  if (bytes->size() < sizeof(size)) return false;
  std::memcpy(&size, bytes->data(), sizeof(size));
  bytes->remove_prefix(sizeof(size));
  if (bytes->size() < size) return false;
  *part = bytes->substr(0, size);
  bytes->remove_prefix(size);
  return true;
}

// The parts of the program that its table is made from.
std::string Signature(const xla::HloModuleProto& module) {
  xla::HloModuleProto signature;
  signature.set_name(module.name());
  *signature.mutable_host_program_shape() = module.host_program_shape();
  *signature.mutable_input_output_alias() = module.input_output_alias();
  return signature.SerializeAsString();
}

std::string Serialized(absl::string_view target, absl::string_view signature, absl::string_view executable) {
  std::string parts;
  AppendPart(&parts, target);
  AppendPart(&parts, signature);
  AppendPart(&parts, executable);
  const uint32_t checksum = tsl::crc32c::Value(parts.data(), parts.size());
  return absl::StrCat(kMagic, absl::string_view(reinterpret_cast<const char*>(&checksum), sizeof(checksum)), parts);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const PjrtRecipe>> PjrtRecipe::Compile(const Client& client, const std::string& target,
                                                                      const hal::Program& program) {
  HPU_ASSIGN_OR_RETURN(ProgramTable table, ParseProgramTable(program.name, program.hlo));
  auto executable = client.Compile(program.hlo, CompileOptions(client.platform_name()));
  if (!executable.ok()) {
    return absl::Status(executable.status().code(),
                        absl::StrCat("compilation of ", program.name, ": ", executable.status().message()));
  }
  std::string serialized;
  if (auto bytes = (*executable)->Serialize(); bytes.ok()) {
    xla::HloModuleProto module;
    module.ParseFromString(program.hlo);
    serialized = Serialized(target, Signature(module), *bytes);
  }
  return std::make_shared<const PjrtRecipe>(program.name, std::move(table), std::move(serialized),
                                            std::move(executable).value());
}

absl::StatusOr<std::shared_ptr<const PjrtRecipe>> PjrtRecipe::Load(const Client& client, const std::string& target,
                                                                   absl::string_view name, absl::string_view bytes) {
  const absl::string_view all = bytes;
  if (!absl::ConsumePrefix(&bytes, kMagic)) return Damaged(name, "not a serialised recipe of the PJRT backend");
  uint32_t expected = 0;
  if (bytes.size() < sizeof(expected)) return Damaged(name, "truncated");
  std::memcpy(&expected, bytes.data(), sizeof(expected));
  bytes.remove_prefix(sizeof(expected));
  if (tsl::crc32c::Value(bytes.data(), bytes.size()) != expected) return Damaged(name, "its checksum is wrong");
  absl::string_view recipe_target;
  absl::string_view signature;
  absl::string_view code;
  if (!ConsumePart(&bytes, &recipe_target) || !ConsumePart(&bytes, &signature) || !ConsumePart(&bytes, &code) ||
      !bytes.empty()) {
    return Damaged(name, "its parts do not fit");
  }
  if (recipe_target != target) {
    return absl::FailedPreconditionError(
        absl::StrCat("recipe ", name, " was compiled for ", recipe_target, ", expected ", target, "; recompile it"));
  }
  xla::HloModuleProto module;
  if (!module.ParseFromArray(signature.data(), static_cast<int>(signature.size()))) {
    return Damaged(name, "its signature cannot be read");
  }
  HPU_ASSIGN_OR_RETURN(ProgramTable table, MakeProgramTable(module));
  auto executable = client.Load(code);
  if (!executable.ok()) {
    return absl::FailedPreconditionError(absl::StrCat("recipe ", name, " cannot be loaded by ", client.plugin().path(),
                                                      ": ", executable.status().message(), "; recompile it"));
  }
  return std::make_shared<const PjrtRecipe>(std::string(name), std::move(table), std::string(all),
                                            std::move(executable).value());
}

absl::StatusOr<std::string> PjrtRecipe::Serialize() const {
  if (serialized_.empty()) return absl::UnimplementedError("the PJRT plugin cannot serialise its programs");
  return serialized_;
}

}  // namespace hpu::pjrt
