#include "plugin/backends/pjrt/compile_options.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/backends/pjrt/autotune_cache.h"
#include "plugin/backends/pjrt/xla_settings.h"
#include "plugin/base/status_macros.h"
#include "plugin/program/determinism.h"
#include "xla/pjrt/proto/compile_options.pb.h"

namespace hpu::pjrt {
namespace {

constexpr char kWinograd[] = "TF_ENABLE_WINOGRAD_NONFUSED";

// Settings for programs that require determinism.
XlaSettings DeterministicSettings() {
  XlaSettings settings;
  settings["xla_gpu_deterministic_ops"] = {"true", XlaSetting::Source::kPackage, /*is_bool=*/true};
  // With Triton GEMMs, the CUDA plugin rejects deterministic programs ("No supported config found").
  settings["xla_gpu_enable_triton_gemm"] = {"false", XlaSetting::Source::kPackage, /*is_bool=*/true};
  return settings;
}

// " --name=value" for each setting.
std::string Text(const XlaSettings& settings) {
  std::string text;
  for (const auto& [name, setting] : settings) absl::StrAppend(&text, " --", name, "=", setting.value);
  return text;
}

}  // namespace

absl::StatusOr<std::string> CompileOptions(absl::string_view plugin_file, absl::string_view hlo,
                                           absl::string_view compiler_target) {
  HPU_ASSIGN_OR_RETURN(PluginSettings plugin, PluginSettingsOf(std::string(plugin_file)));
  XlaSettings& settings = plugin.settings;
  settings.insert(plugin.job_settings.begin(), plugin.job_settings.end());
  if (plugin.has_autotune_cache && !compiler_target.empty()) {
    const XlaSettings cache = AutotuneCacheSettingsFor(compiler_target);
    settings.insert(cache.begin(), cache.end());
  }
  xla::HloModuleProto program;
  if (program.ParseFromArray(hlo.data(), static_cast<int>(hlo.size())) && RequiresDeterminism(program)) {
    for (auto& [name, setting] : DeterministicSettings()) settings[name] = std::move(setting);
  }
  return OptionsOf(settings).SerializeAsString();
}

std::string CompilerSettings(const std::string& plugin_file) {
  const absl::StatusOr<PluginSettings> plugin = PluginSettingsOf(plugin_file);  // InitializeXlaSettings reports errors
  std::string settings = absl::StrCat(" settings", plugin.ok() ? Text(plugin->settings) : "", " deterministic",
                                      Text(DeterministicSettings()));
  // The CUDA plugin reads the variable when it selects algorithms of convolutions.
  if (const char* value = std::getenv(kWinograd)) absl::StrAppend(&settings, " ", kWinograd, "=", value);
  return settings;
}

}  // namespace hpu::pjrt
