// CompileOptions: XLA compile options for PJRT plugins.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_COMPILE_OPTIONS_H_
#define HPU_PLUGIN_BACKENDS_PJRT_COMPILE_OPTIONS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hpu::pjrt {

// Parses settings for a PJRT plugin's XLA. `text` has the form "--name=value --name", as in XLA_FLAGS; a name without a
// value means true. Fails with InvalidArgument for an entry without "--".
absl::StatusOr<std::map<std::string, std::string>> ParseXlaFlags(absl::string_view text);

// A serialised xla::CompileOptionsProto for one device of the plugin in `plugin_file`. Contains HPU_PJRT_XLA_FLAGS and
// the settings that the program and the plugin require. `hlo`: serialised xla::HloModuleProto. Fails with
// InvalidArgument if HPU_PJRT_XLA_FLAGS cannot be parsed.
absl::StatusOr<std::string> CompileOptions(absl::string_view plugin_file, absl::string_view hlo);

// Settings besides the program that change the compiled code: HPU_PJRT_XLA_FLAGS, and XLA_FLAGS, which plugins read
// directly. Part of a device's compiler target.
std::string CompilerSettings();

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_COMPILE_OPTIONS_H_
