// Lengths and capacities of TensorLists that a graph determines statically.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_LIST_STATES_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_LIST_STATES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "plugin/passes/analysis/static_shapes.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Compiled code stores a TensorList in a buffer of fixed capacity, and reads the whole buffer. If the list is shorter,
// or if an op writes beyond the buffer, the result differs from the CPU kernel's result. Not thread safe.
class ListStates {
 public:
  // `library` and `shapes` must outlive this object. `shapes` may be null.
  ListStates(const tensorflow::FunctionLibraryDefinition* library, LazyShapes* shapes)
      : library_(library), shapes_(shapes) {}

  // Returns the reason why compiled code may return another value than the CPU kernel, or lose the kernel's error;
  // nullopt if there is none. For a list of unknown state, checks only indices and resizing. `whole`: the node is in a
  // function that a cluster calls. In such a function, an index may be a loop counter, which loop_index_pass.h checks.
  // In other graphs, an index must be constant.
  std::optional<std::string> WhyNotCompiled(const tensorflow::Node& node, bool whole);

  // The number of elements of the list at a node's input; nullopt if it is unknown.
  std::optional<int64_t> LengthOfInput(const tensorflow::Node& node, int input);

 private:
  struct State {
    bool known = false;     // false: ignore the other fields
    bool full = false;      // the length equals the capacity
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
