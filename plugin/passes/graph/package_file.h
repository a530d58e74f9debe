// Data files that are installed with the Python package.
#ifndef HPU_PLUGIN_PASSES_GRAPH_PACKAGE_FILE_H_
#define HPU_PLUGIN_PASSES_GRAPH_PACKAGE_FILE_H_

#include <string>
#include <string_view>

namespace hpu::passes {

// The path of a file of habana_frameworks/tensorflow, found from where this plugin lies (its folder lib).
std::string PackageFile(std::string_view relative);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_GRAPH_PACKAGE_FILE_H_
