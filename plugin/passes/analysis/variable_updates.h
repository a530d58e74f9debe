// Predicates for ops and functions that may change a variable.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_VARIABLE_UPDATES_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_VARIABLE_UPDATES_H_

#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Whether a node may change a variable or another resource that it receives as a handle. True for calls, loops and
// branches that are stateful and receive a handle, whatever their functions do.
bool UpdatesVariable(const tensorflow::Node& node);

// Whether a function, or a function that it calls, may change a variable or another resource that it receives as a
// handle.
bool UpdatesVariables(const tensorflow::NameAttrList& function, const tensorflow::FunctionLibraryDefinition& library);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_VARIABLE_UPDATES_H_
