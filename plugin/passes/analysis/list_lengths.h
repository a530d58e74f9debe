// Lengths of TensorLists that are filled by loops.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_LIST_LENGTHS_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_LIST_LENGTHS_H_

#include "absl/status/statusor.h"
#include "plugin/passes/analysis/known_numbers.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Sets num_elements on each TensorListStack whose list was filled by a loop and has a known length. Shape inference
// then finds the shape of the stacked tensor. Returns whether a node changed.
absl::StatusOr<bool> SetLengthsOfStacks(tensorflow::Graph* graph, const tensorflow::FunctionLibraryDefinition& library,
                                        KnownNumbers* known);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_LIST_LENGTHS_H_
