#include "plugin/backends/pjrt/compile_options.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "plugin/backends/pjrt/plugin_file.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/status_macros.h"
#include "plugin/program/determinism.h"
#include "xla/pjrt/compile_options.pb.h"

namespace hpu::pjrt {

absl::StatusOr<std::map<std::string, std::string>> ParseXlaFlags(absl::string_view text) {
  std::map<std::string, std::string> settings;
  for (absl::string_view entry : absl::StrSplit(text, absl::ByAnyChar(" \t\n"), absl::SkipEmpty())) {
    const absl::string_view whole = entry;
    if (!absl::ConsumePrefix(&entry, "--") || entry.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("HPU_PJRT_XLA_FLAGS: expected --name or --name=value, got \"", whole, "\""));
    }
    const std::pair<std::string, std::string> parts = absl::StrSplit(entry, absl::MaxSplits('=', 1));
    settings[parts.first] = absl::StrContains(entry, '=') ? parts.second : "true";
  }
  return settings;
}

absl::StatusOr<std::string> CompileOptions(absl::string_view plugin_file, absl::string_view hlo) {
  HPU_ASSIGN_OR_RETURN(auto settings, ParseXlaFlags(flags::PjrtXlaFlags()));
  // XLA in JAX 0.11.2 passes 256-bit vector registers to its vector math functions, such as arctangent. XLA compiles
  // these functions without 256-bit registers, so the functions return garbage.
  if (IsForCpu(plugin_file)) settings.emplace("xla_cpu_prefer_vector_width", "128");
  xla::HloModuleProto program;
  if (program.ParseFromArray(hlo.data(), static_cast<int>(hlo.size())) && RequiresDeterminism(program)) {
    settings["xla_gpu_deterministic_ops"] = "true";
    // With Triton GEMMs, the CUDA plugin rejects deterministic programs ("No supported config found").
    settings["xla_gpu_enable_triton_gemm"] = "false";
  }
  xla::CompileOptionsProto options;
  options.mutable_executable_build_options()->set_num_replicas(1);
  options.mutable_executable_build_options()->set_num_partitions(1);
  for (const auto& [name, value] : settings) {
    xla::OptionOverrideProto& setting = (*options.mutable_env_option_overrides())[name];
    if (value == "true" || value == "false") {
      setting.set_bool_field(value == "true");  // XLA rejects these words as strings
    } else {
      setting.set_string_field(value);  // XLA converts the string
    }
  }
  return options.SerializeAsString();
}

std::string CompilerSettings() {
  // XLA_FLAGS is read once per process, as in plugins.
  static const auto* xla_flags = [] {
    const char* value = std::getenv("XLA_FLAGS");
    return new std::string(value == nullptr ? "" : value);
  }();
  std::string settings;
  if (const std::string own = flags::PjrtXlaFlags(); !own.empty()) absl::StrAppend(&settings, " flags ", own);
  if (!xla_flags->empty()) absl::StrAppend(&settings, " XLA_FLAGS ", *xla_flags);
  return settings;
}

}  // namespace hpu::pjrt
