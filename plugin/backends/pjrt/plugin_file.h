// PluginFile: search for the shared library of a PJRT plugin.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_PLUGIN_FILE_H_
#define HPU_PLUGIN_BACKENDS_PJRT_PLUGIN_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hpu::pjrt {

// Folders with Python packages: the entries of PYTHONPATH, then the folder in which TensorFlow is installed.
std::vector<std::string> PackageFolders();

// Returns the path of the plugin `name`: a path, "cpu" or "cuda". For "cpu" and "cuda", searches `folders`. NotFound
// lists the searched files and the package to install. Fails with InvalidArgument for other names.
absl::StatusOr<std::string> PluginFile(absl::string_view name,
                                       const std::vector<std::string>& folders = PackageFolders());
// Whether the plugin's device is the CPU, by the file name. A client of such a plugin does not occupy a device.
bool IsForCpu(absl::string_view file);

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_PLUGIN_FILE_H_
