// Lengths of TensorLists, where a graph determines them.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_LIST_STATES_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_LIST_STATES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "plugin/passes/analysis/static_shapes.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// The compiler keeps a TensorList in a buffer with room for all elements, and treats the whole buffer as the list. So
// ops that read a shorter list, or write beyond the buffer, differ from the CPU kernels. Not thread safe.
class ListStates {
 public:
  // Both outlive this. `shapes` may be null.
  ListStates(const tensorflow::FunctionLibraryDefinition* library, LazyShapes* shapes)
      : library_(library), shapes_(shapes) {}

  // Why compiled code would compute a different value than the CPU kernel, or drop its error; nullopt if it would not,
  // or if the graph does not say. `whole`: the node is in a function that a cluster holds whole. There an index may be
  // a loop counter, which loop_index_pass.h checks.
  std::optional<std::string> WhyNotCompiled(const tensorflow::Node& node, bool whole);

  // The number of elements of the list at a node's input; nullopt if the graph does not determine it.
  std::optional<int64_t> LengthOfInput(const tensorflow::Node& node, int input);

 private:
  struct State {
    bool known = false;     // if false, the other fields mean nothing
    bool full = false;      // the list has as many elements as the buffer has room for
    int64_t length = -1;    // -1: unknown
    int64_t capacity = -1;  // -1: unknown
  };

  State StateOf(const tensorflow::Node& node, int output, int depth);
  State StateOfInput(const tensorflow::Node& node, int input, int depth);
  State AfterLoop(const tensorflow::Node& loop, int output, int depth);
  bool IsInRange(const tensorflow::Node& node, const State& state) const;

  const tensorflow::FunctionLibraryDefinition* const library_;
  LazyShapes* const shapes_;
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_LIST_STATES_H_
