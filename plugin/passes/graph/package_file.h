// Paths of data files that are installed with the Python package.
#ifndef HPU_PLUGIN_PASSES_GRAPH_PACKAGE_FILE_H_
#define HPU_PLUGIN_PASSES_GRAPH_PACKAGE_FILE_H_

#include <string>
#include <string_view>

namespace hpu::passes {

// The path of a file in habana_frameworks/tensorflow. Derived from the path of this plugin, which is in the subfolder
// lib.
std::string PackageFile(std::string_view relative);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_GRAPH_PACKAGE_FILE_H_
