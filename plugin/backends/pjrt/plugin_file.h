// Finds the shared libraries of PJRT plugins.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_PLUGIN_FILE_H_
#define HPU_PLUGIN_BACKENDS_PJRT_PLUGIN_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hpu::pjrt {

// Path of the plugin that `name` selects: a path itself, or "cpu" or "cuda", whose plugin is searched in the packages
// that are installed beside TensorFlow and in the folders of PYTHONPATH. NotFound names what was searched and the
// package to install; InvalidArgument for other names.
absl::StatusOr<std::string> PluginFile(absl::string_view name);
// Whether the plugin's device is the CPU, by the name of its file. A client of such a plugin takes no device from
// anybody.
bool IsForCpu(absl::string_view file);

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_PLUGIN_FILE_H_
