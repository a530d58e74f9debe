// PluginFile: search for the shared library of a PJRT plugin.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_PLUGIN_FILE_H_
#define HPU_PLUGIN_BACKENDS_PJRT_PLUGIN_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hpu::pjrt {

// Returns the path of the plugin `name`: a path, "cpu" or "cuda". For "cpu" and "cuda", searches the folders of
// PYTHONPATH and the packages installed beside TensorFlow. NotFound lists the searched files and the package to
// install. Fails with InvalidArgument for other names.
absl::StatusOr<std::string> PluginFile(absl::string_view name);
// Whether the plugin's device is the CPU, by the file name. A client of such a plugin does not occupy a device.
bool IsForCpu(absl::string_view file);

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_PLUGIN_FILE_H_
