// Device of the resource behind a resource handle.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_HANDLE_DEVICE_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_HANDLE_DEVICE_H_

#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Whether the node takes a handle of a resource that is not on an HPU: a string variable, a table, an iterator. No
// cluster can hold such a node. A whole loop, branch or call that takes handles of both devices has no valid placement.
bool TakesHandleFromElsewhere(const tensorflow::Node& node);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_HANDLE_DEVICE_H_
