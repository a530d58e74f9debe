#include "plugin/backends/gaudi/check/program_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "plugin/base/status_macros.h"
#include "xla/debug_options_flags.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/parser/hlo_parser.h"

namespace hpu::gaudi {
namespace {

absl::StatusOr<std::string> ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.good() && !file.eof()) {
    return absl::NotFoundError(absl::StrCat("cannot read ", path, "; check the path and its permissions"));
  }
  return bytes;
}

bool IsText(absl::string_view bytes) { return absl::StartsWith(absl::StripLeadingAsciiWhitespace(bytes), "HloModule"); }

// Parses an HloModuleProto, or the HloProto that XLA dumps. False for other bytes.
bool ParseProto(const std::string& bytes, xla::HloModuleProto* proto) {
  const auto is_program = [](const xla::HloModuleProto& module) {
    return module.computations_size() > 0 && module.has_host_program_shape();
  };
  xla::HloProto dump;
  if (dump.ParseFromString(bytes) && is_program(dump.hlo_module())) {
    *proto = std::move(*dump.mutable_hlo_module());
    return true;
  }
  return proto->ParseFromString(bytes) && is_program(*proto);
}

absl::StatusOr<std::unique_ptr<xla::HloModule>> ReadModule(const std::string& path) {
  HPU_ASSIGN_OR_RETURN(const std::string bytes, ReadBytes(path));
  if (IsText(bytes)) return xla::ParseAndReturnUnverifiedModule(bytes);
  xla::HloModuleProto proto;
  if (!ParseProto(bytes, &proto)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is not a program: expected HLO text, a HloModuleProto or a HloProto"));
  }
  HPU_ASSIGN_OR_RETURN(const xla::HloModuleConfig config,
                       xla::HloModule::CreateModuleConfigFromProto(proto, xla::GetDebugOptionsFromFlags()));
  return xla::HloModule::CreateFromProto(proto, config);
}

void MakeRootATuple(xla::HloModule* module) {
  xla::HloComputation* entry = module->entry_computation();
  xla::HloInstruction* root = entry->root_instruction();
  if (root->shape().IsTuple()) return;
  entry->set_root_instruction(entry->AddInstruction(xla::HloInstruction::CreateTuple({root})),
                              /*accept_different_shape=*/true);
  xla::HloModuleConfig config = module->config();
  config.SetComputationLayoutIfExists(entry->ComputeProgramShape());
  module->set_config(config);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ProgramFiles(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string suffix = entry.path().extension().string();
    if (suffix == ".hlo" || suffix == ".pb") paths.push_back(entry.path().string());
  }
  if (error) return absl::NotFoundError(absl::StrCat("cannot read the folder ", folder, ": ", error.message()));
  if (paths.empty()) {
    return absl::NotFoundError(absl::StrCat("no program in ", folder, ": expected files *.hlo or *.pb"));
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

absl::StatusOr<xla::HloModuleProto> ReadProgram(const std::string& path) {
  HPU_ASSIGN_OR_RETURN(const std::unique_ptr<xla::HloModule> module, ReadModule(path));
  MakeRootATuple(module.get());
  return module->ToProto();
}

}  // namespace hpu::gaudi
