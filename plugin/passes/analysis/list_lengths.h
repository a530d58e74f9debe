// Lengths of lists that loops fill.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_LIST_LENGTHS_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_LIST_LENGTHS_H_

#include "absl/status/status.h"
#include "plugin/passes/analysis/known_numbers.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Tells ops that stack a list of how many elements, where a loop filled one that was made with a known length: shapes
// of what is made of the stack can be inferred then.
absl::Status SetLengthsOfStacks(tensorflow::Graph* graph, const tensorflow::FunctionLibraryDefinition& library,
                                KnownNumbers* known);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_LIST_LENGTHS_H_
