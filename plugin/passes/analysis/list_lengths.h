// Lengths of TensorLists that are filled by loops.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_LIST_LENGTHS_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_LIST_LENGTHS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/compat/function_bodies.h"
#include "plugin/passes/analysis/known_numbers.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Sets num_elements on each TensorListStack whose list was filled by a loop and has a known length. Shape inference
// then finds the shape of the stacked tensor. Returns whether a node changed.
absl::StatusOr<bool> SetLengthsOfStacks(tensorflow::Graph* graph, const tensorflow::FunctionLibraryDefinition& library,
                                        KnownNumbers* known);

// A TensorList that is value `index` of a loop when the loop starts.
struct LoopList {
  tensorflow::Node* list;  // creates the list
  int index;
};

// The lists of a loop that nodes of type `op` create.
std::vector<LoopList> CreatedLists(const tensorflow::Node& loop, std::string_view op);

// Whether each iteration only sets an element of the list, so that the list keeps its length.
bool KeepsLength(const tensorflow::FunctionBody& body, int index);

// Adds a constant for the length of `list`, an int32 scalar. Its name is that of the list and `suffix`.
absl::StatusOr<tensorflow::Node*> AddLength(tensorflow::Graph* graph, const tensorflow::Node& list,
                                            std::string_view suffix, int32_t length);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_LIST_LENGTHS_H_
