// Warning about unknown op types in settings and configuration files.
#ifndef HPU_PLUGIN_PASSES_GRAPH_REGISTERED_OPS_H_
#define HPU_PLUGIN_PASSES_GRAPH_REGISTERED_OPS_H_

#include <string>
#include <vector>

namespace hpu::passes {

// Writes a warning with the nearest name if TensorFlow has no op type `name`. `where` begins the text: a setting or a
// file. `words`: further names that the setting accepts.
void WarnIfNoOp(const std::string& where, const std::string& name, const std::vector<std::string>& words = {});

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_GRAPH_REGISTERED_OPS_H_
