// Lengths of TensorLists that loops fill.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_LIST_LENGTHS_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_LIST_LENGTHS_H_

#include "absl/status/status.h"
#include "plugin/passes/analysis/known_numbers.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Sets the number of elements on ops that stack a list, if a loop filled the list and its length is known. Shape
// inference can then continue past the stack.
absl::Status SetLengthsOfStacks(tensorflow::Graph* graph, const tensorflow::FunctionLibraryDefinition& library,
                                KnownNumbers* known);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_LIST_LENGTHS_H_
