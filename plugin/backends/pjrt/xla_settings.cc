#include "plugin/backends/pjrt/xla_settings.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <sstream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "plugin/backends/pjrt/autotune_cache.h"
#include "plugin/backends/pjrt/cuda_cards.h"
#include "plugin/backends/pjrt/plugin_file.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/flags/parse.h"
#include "plugin/base/flags/warnings.h"
#include "plugin/base/log/log.h"
#include "plugin/base/status_macros.h"

namespace hpu::pjrt {
namespace {

using Source = XlaSetting::Source;

constexpr char kOwnVariable[] = "HPU_PJRT_XLA_FLAGS";
constexpr char kXlaVariable[] = "XLA_FLAGS";

// Removes the next entry from `text`, and returns it without quotes.
std::string TakeEntry(absl::string_view* text) {
  std::string entry;
  char quote = '\0';
  size_t i = 0;
  for (; i < text->size(); ++i) {
    const char c = (*text)[i];
    if (quote == '\0') {
      if (absl::ascii_isspace(c)) break;
      if ((c == '"' || c == '\'') && absl::EndsWith(entry, "=")) {
        quote = c;
        continue;
      }
    } else if (c == quote) {
      ++i;
      break;
    } else if (c == '\\' && quote == '"' && i + 1 < text->size()) {
      ++i;
    }
    entry.push_back((*text)[i]);
  }
  text->remove_prefix(i);
  return entry;
}

// The text of XLA_FLAGS. A value that does not begin with "-" is the path of a file with the flags.
std::string XlaFlagsText() {
  const char* value = std::getenv(kXlaVariable);
  const absl::string_view text = absl::StripAsciiWhitespace(value == nullptr ? "" : value);
  if (text.empty() || absl::StartsWith(text, "-")) return std::string(text);
  std::ifstream file{std::string(text)};
  std::stringstream contents;
  contents << file.rdbuf();
  return contents.str();
}

// A plugin's error about one setting.
struct Refusal {
  std::string name;
  std::string reason;
};

// Parses "No such compile option: 'name'" and "While setting option name, …". The name is empty for other errors.
Refusal ParseRefusal(absl::string_view message) {
  for (const auto& [start, end] :
       {std::pair("No such compile option: '", "'"), std::pair("While setting option ", ",")}) {
    const size_t found = message.find(start);
    if (found == absl::string_view::npos) continue;
    const absl::string_view rest = message.substr(found + absl::string_view(start).size());
    return {std::string(rest.substr(0, rest.find(end))), std::string(absl::StripSuffix(message.substr(found), "."))};
  }
  return {};
}

// Corrects the setting's type, which XLA's error names. Returns false if the type is not the reason of the error.
bool CorrectType(const std::string& reason, XlaSetting* setting) {
  if (!setting->is_bool && absl::StrContains(reason, "not a valid bool value") &&
      (setting->value == "1" || setting->value == "0")) {
    setting->value = setting->value == "1" ? "true" : "false";
    setting->is_bool = true;
    return true;
  }
  if (setting->is_bool && absl::StrContains(reason, "not a valid string value")) {
    setting->is_bool = false;
    return true;
  }
  return false;
}

void ReportRefusedXlaFlag(absl::string_view plugin_file, const Refusal& refusal) {
  const std::string claim = absl::StrCat(kXlaVariable, " ", refusal.name);
  if (flags::WarningsAreOff() || !flags::ClaimWarning(claim.c_str())) return;
  std::fprintf(stderr, "HPU: WARNING: %s: %s compiles without --%s (%s); TensorFlow's own XLA reads the flag\n",
               kXlaVariable, std::string(plugin_file).c_str(), refusal.name.c_str(), refusal.reason.c_str());
}

absl::Status Refused(absl::string_view plugin_file, const Refusal& refusal) {
  return absl::InvalidArgumentError(absl::StrCat(kOwnVariable, ": the PJRT plugin ", plugin_file, " does not accept --",
                                                 refusal.name, ": ", refusal.reason,
                                                 "; remove the flag, or correct its name or value"));
}

// Whether the plugin keeps measurements in a directory of this package. Flags of the user have precedence.
bool AcceptsAutotuneCache(absl::string_view plugin_file, TryOptions try_options, const XlaSettings& settings) {
  if (!IsForCuda(plugin_file) || AutotuneCachePath().empty()) return false;
  const XlaSettings cache = AutotuneCacheSettings(AutotuneCachePath(), /*read_only=*/true);
  for (const auto& [name, setting] : cache) {
    if (settings.count(name) > 0) return false;
  }
  XlaSettings accepted = cache;
  return CheckXlaSettings(plugin_file, try_options, &accepted).ok() && accepted.size() == cache.size();
}

// Settings for a client of several processes, as far as the plugin accepts them. By default, the processes tune each
// program together, and a process that compiles a program alone waits for the others.
XlaSettings JobSettings(absl::string_view plugin_file, TryOptions try_options, const XlaSettings& settings) {
  constexpr char kShardAutotuning[] = "xla_gpu_shard_autotuning";
  XlaSettings job;
  if (!IsForCuda(plugin_file) || flags::PjrtCollectives() != flags::PjrtCollectivesSetting::kDevice ||
      settings.count(kShardAutotuning) > 0) {
    return job;
  }
  job[kShardAutotuning] = {"false", Source::kPackage, /*is_bool=*/true};
  CheckXlaSettings(plugin_file, try_options, &job).IgnoreError();  // settings of the package are removed, not refused
  return job;
}

struct Initialized {
  std::mutex mutex;
  std::map<std::string, PluginSettings> settings;  // by plugin file
};

Initialized& InitializedSettings() {
  static auto* state = new Initialized;
  return *state;
}

}  // namespace

absl::StatusOr<XlaSettings> ParseXlaFlags(absl::string_view variable, absl::string_view text, Source source) {
  XlaSettings settings;
  for (;;) {
    text = absl::StripLeadingAsciiWhitespace(text);
    if (text.empty()) return settings;
    const std::string whole = TakeEntry(&text);
    absl::string_view entry = whole;
    if (!absl::ConsumePrefix(&entry, "--") || entry.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(variable, ": expected --name or --name=value, got \"", whole, "\""));
    }
    const size_t equals = entry.find('=');
    XlaSetting setting;
    setting.value = equals == absl::string_view::npos ? "true" : std::string(entry.substr(equals + 1));
    setting.source = source;
    setting.is_bool = setting.value == "true" || setting.value == "false";
    settings[std::string(entry.substr(0, equals))] = std::move(setting);
  }
}

absl::StatusOr<XlaSettings> ReadXlaSettings(absl::string_view plugin_file) {
  HPU_ASSIGN_OR_RETURN(XlaSettings settings, ParseXlaFlags(kOwnVariable, flags::PjrtXlaFlags(), Source::kOwnFlags));
  HPU_ASSIGN_OR_RETURN(const XlaSettings others, ParseXlaFlags(kXlaVariable, XlaFlagsText(), Source::kXlaFlags));
  settings.insert(others.begin(), others.end());
  if (IsForCpu(plugin_file)) {
    // XLA in JAX 0.11.2 passes 256-bit vector registers to its vector math functions, such as arctangent. XLA compiles
    // these functions without 256-bit registers, so the functions return garbage.
    settings.emplace("xla_cpu_prefer_vector_width", XlaSetting{"128"});
    // XNNPACK keeps a packed copy of weights while their address stays the same. A train step updates them in place.
    settings.emplace("xla_cpu_use_xnnpack", XlaSetting{"false", Source::kPackage, /*is_bool=*/true});
    // XLA's fast minimum and maximum ignore NaN. TensorFlow's reductions return NaN.
    settings.emplace("xla_cpu_enable_fast_min_max", XlaSetting{"false", Source::kPackage, /*is_bool=*/true});
  } else if (const int64_t level = flags::PjrtAutotuneLevel(); level >= 0) {
    settings.emplace("xla_gpu_autotune_level", XlaSetting{absl::StrCat(level)});
  }
  return settings;
}

absl::Status CheckXlaSettings(absl::string_view plugin_file, TryOptions try_options, XlaSettings* settings) {
  // Each error removes a setting, or corrects its type at most once.
  for (size_t left = 2 * settings->size(); left > 0 && !settings->empty(); --left) {
    const absl::Status status = try_options(OptionsOf(*settings).SerializeAsString());
    const Refusal refusal = ParseRefusal(status.message());
    const auto refused = status.ok() ? settings->end() : settings->find(refusal.name);
    // The plugin accepts all settings. If it refuses the program for another reason, compiling a cluster reports it.
    if (refused == settings->end()) return absl::OkStatus();
    if (CorrectType(refusal.reason, &refused->second)) continue;
    switch (refused->second.source) {
      case Source::kOwnFlags:
        return Refused(plugin_file, refusal);
      case Source::kXlaFlags:
        ReportRefusedXlaFlag(plugin_file, refusal);
        break;
      case Source::kPackage:
        HPU_LOG(kBackend, kInfo) << plugin_file << " compiles without " << refusal.name << ": " << refusal.reason;
        break;
    }
    settings->erase(refused);
  }
  return absl::OkStatus();
}

absl::Status InitializeXlaSettings(const std::string& plugin_file, TryOptions try_options) {
  Initialized& state = InitializedSettings();
  std::lock_guard<std::mutex> lock(state.mutex);
  if (state.settings.count(plugin_file) == 0) {
    PluginSettings plugin;
    HPU_ASSIGN_OR_RETURN(plugin.settings, ReadXlaSettings(plugin_file));
    HPU_RETURN_IF_ERROR(CheckXlaSettings(plugin_file, try_options, &plugin.settings));
    plugin.has_autotune_cache = AcceptsAutotuneCache(plugin_file, try_options, plugin.settings);
    plugin.job_settings = JobSettings(plugin_file, try_options, plugin.settings);
    state.settings.emplace(plugin_file, std::move(plugin));
  }
  return absl::OkStatus();
}

absl::StatusOr<PluginSettings> PluginSettingsOf(const std::string& plugin_file) {
  Initialized& state = InitializedSettings();
  {
    std::lock_guard<std::mutex> lock(state.mutex);
    if (const auto found = state.settings.find(plugin_file); found != state.settings.end()) return found->second;
  }
  PluginSettings plugin;
  HPU_ASSIGN_OR_RETURN(plugin.settings, ReadXlaSettings(plugin_file));
  return plugin;
}

xla::CompileOptionsProto OptionsOf(const XlaSettings& settings) {
  xla::CompileOptionsProto options;
  options.mutable_executable_build_options()->set_num_replicas(1);
  options.mutable_executable_build_options()->set_num_partitions(1);
  for (const auto& [name, setting] : settings) {
    xla::OptionOverrideProto& override_proto = (*options.mutable_env_option_overrides())[name];
    if (setting.is_bool) {
      override_proto.set_bool_field(setting.value == "true");
    } else {
      override_proto.set_string_field(setting.value);  // XLA converts the string
    }
  }
  return options;
}

}  // namespace hpu::pjrt
