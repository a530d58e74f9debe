// Settings of a plugin's XLA compiler: HPU_PJRT_XLA_FLAGS, XLA_FLAGS, and this package's defaults.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_XLA_SETTINGS_H_
#define HPU_PLUGIN_BACKENDS_PJRT_XLA_SETTINGS_H_

#include <map>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "xla/pjrt/proto/compile_options.pb.h"

namespace hpu::pjrt {

// One setting of XLA, an entry of env_option_overrides.
struct XlaSetting {
  enum class Source { kPackage, kXlaFlags, kOwnFlags };  // this package, XLA_FLAGS, HPU_PJRT_XLA_FLAGS

  std::string value;
  Source source = Source::kPackage;
  bool is_bool = false;  // XLA refuses "true" as a string for a boolean, and a boolean for a string

  bool operator==(const XlaSetting& other) const {
    return value == other.value && source == other.source && is_bool == other.is_bool;
  }
};

// Settings by name, without "--".
using XlaSettings = std::map<std::string, XlaSetting>;

// Parses "--name=value --name", as XLA parses XLA_FLAGS: a name without a value means true, and a value may be in
// quotes (--name="a b"). Fails with InvalidArgument for an entry without "--"; `variable` is the variable's name in the
// error.
absl::StatusOr<XlaSettings> ParseXlaFlags(absl::string_view variable, absl::string_view text,
                                          XlaSetting::Source source);

// Settings for the plugin in `plugin_file`: this package's, then XLA_FLAGS, then HPU_PJRT_XLA_FLAGS, which override
// each other in this order. Fails with InvalidArgument if a variable cannot be parsed.
absl::StatusOr<XlaSettings> ReadXlaSettings(absl::string_view plugin_file);

// Compiles a small program with serialised xla::CompileOptionsProto, and returns the plugin's error.
using TryOptions = absl::FunctionRef<absl::Status(absl::string_view options)>;

// Corrects the types of `settings`, and removes settings that the plugin does not accept. Warns once per process and
// name about a setting of XLA_FLAGS that is removed: TensorFlow's XLA and the plugin's XLA have different settings.
// Fails with InvalidArgument if the plugin does not accept a setting of HPU_PJRT_XLA_FLAGS.
absl::Status CheckXlaSettings(absl::string_view plugin_file, TryOptions try_options, XlaSettings* settings);

// What InitializeXlaSettings has found out about a plugin.
struct PluginSettings {
  XlaSettings settings;
  bool has_autotune_cache = false;  // whether the plugin accepts AutotuneCacheSettings
  // Not part of a recipe's key, because they do not change the code of one program: HPU_PJRT_COLLECTIVES=device.
  XlaSettings job_settings;
};

// Reads and checks the settings of this process for a plugin. The first successful call for a plugin determines the
// settings; later changes of the variables have no effect. Thread safe.
absl::Status InitializeXlaSettings(const std::string& plugin_file, TryOptions try_options);

// The settings that InitializeXlaSettings has determined for the plugin; without such a call, ReadXlaSettings and no
// autotune cache. Thread safe.
absl::StatusOr<PluginSettings> PluginSettingsOf(const std::string& plugin_file);

// Options for one replica and partition, with `settings`.
xla::CompileOptionsProto OptionsOf(const XlaSettings& settings);

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_XLA_SETTINGS_H_
