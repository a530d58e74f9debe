// Where the value of a tensor comes from, as far as compiling is concerned: inputs that must be known when a cluster is
// compiled make a recipe for each value.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_CONSTANT_ORIGIN_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_CONSTANT_ORIGIN_H_

#include <vector>

#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Ordered: an op's result has the worst origin of its inputs.
enum class Origin : char {
  kStatic,    // constants and shapes: the same for every run with the same shapes
  kArgument,  // whole-number arguments and what is computed of them: changes seldom (n in x[:n])
  kLoop,      // carried around a lowered loop: another value in each iteration
  kData,      // computed from data, read from a variable, drawn at random
};

// The origin of each node's results, by node id; `order` is a topological order of all nodes but for loops' back edges.
std::vector<Origin> FindOrigins(const tensorflow::Graph& graph, const std::vector<tensorflow::Node*>& order);

// The inputs of a node that must be known when it is compiled, also through the functions that it calls.
absl::StatusOr<std::vector<int>> CompileTimeConstantInputs(const tensorflow::Node& node,
                                                           tensorflow::FunctionLibraryRuntime* runtime);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_CONSTANT_ORIGIN_H_
