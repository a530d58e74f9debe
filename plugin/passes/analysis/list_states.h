// Lengths of TensorLists, as far as a graph tells them.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_LIST_STATES_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_LIST_STATES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "plugin/passes/analysis/static_shapes.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// The compiler keeps a TensorList in a buffer that has room for all elements, and takes the buffer for the list: ops
// that read a list of fewer elements, or write beyond the buffer, differ from the CPU's kernels. Not thread safe.
class ListStates {
 public:
  // Both outlive this. `shapes` may be null.
  ListStates(const tensorflow::FunctionLibraryDefinition* library, LazyShapes* shapes)
      : library_(library), shapes_(shapes) {}

  // Why compiled code would compute something else than the CPU's kernel, or drop its error; nothing if it would not,
  // or if the graph does not tell. `whole` says that the node is in a function that a cluster holds whole: there an
  // index may be a loop's, which loop_index_pass.h looks at.
  std::optional<std::string> WhyNotCompiled(const tensorflow::Node& node, bool whole);

  // The number of elements of the list that a node takes as an input; nothing if the graph does not tell.
  std::optional<int64_t> LengthOfInput(const tensorflow::Node& node, int input);

 private:
  struct State {
    bool known = false;     // else nothing is
    bool full = false;      // as many elements as the buffer has room for
    int64_t length = -1;    // -1: unknown
    int64_t capacity = -1;  // the same
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
