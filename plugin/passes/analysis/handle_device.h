// On which device a resource handle's resource is.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_HANDLE_DEVICE_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_HANDLE_DEVICE_H_

#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Whether the node takes a handle of a resource that is not on an HPU: a variable of strings, a table, an iterator. No
// cluster can hold such a node, and no loop, branch or call that stays whole can be placed beside both devices'
// resources.
bool TakesHandleFromElsewhere(const tensorflow::Node& node);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_HANDLE_DEVICE_H_
