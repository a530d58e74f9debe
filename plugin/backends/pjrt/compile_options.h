// CompileOptions: XLA compile options for PJRT plugins.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_COMPILE_OPTIONS_H_
#define HPU_PLUGIN_BACKENDS_PJRT_COMPILE_OPTIONS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hpu::pjrt {

// A serialised xla::CompileOptionsProto for one device of the plugin in `plugin_file`. Contains the plugin's
// XlaSettings and the settings that the program requires. `hlo`: serialised xla::HloModuleProto. Fails with
// InvalidArgument if HPU_PJRT_XLA_FLAGS or XLA_FLAGS cannot be parsed. `compiler_target`: target of the autotune cache
// (autotune_cache.h); empty for programs that need no cache.
absl::StatusOr<std::string> CompileOptions(absl::string_view plugin_file, absl::string_view hlo,
                                           absl::string_view compiler_target = "");

// Settings besides the program that change the code of the plugin in `plugin_file`: PluginSettingsOf and the settings
// that CompileOptions adds for marked programs, without the directory of the autotune cache. Part of a device's
// compiler target. Requires InitializeXlaSettings.
std::string CompilerSettings(const std::string& plugin_file);

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_COMPILE_OPTIONS_H_
