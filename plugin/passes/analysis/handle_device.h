// Queries about the resource behind a resource handle.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_HANDLE_DEVICE_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_HANDLE_DEVICE_H_

#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Whether an input of the node is a handle to a resource outside the HPU, such as a string variable, a table or an
// iterator. A cluster cannot contain such a node. A functional loop, branch or call with handles to resources on two
// devices has no valid placement.
bool HasHandleOfOtherDevice(const tensorflow::Node& node);

// The tensor that input `input`, a resource handle, is a copy of: skips identities.
tensorflow::OutputTensor HandleSource(const tensorflow::Node& node, int input);

// Whether the node takes one handle as several inputs.
bool PassesHandleTwice(const tensorflow::Node& node);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_HANDLE_DEVICE_H_
