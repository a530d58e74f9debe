// Origins of compile-time constant inputs. A cluster needs one recipe for each value of such an input, so the origin
// predicts how often it is recompiled.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_CONSTANT_ORIGIN_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_CONSTANT_ORIGIN_H_

#include <vector>

#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Ordered from best to worst: a result has the worst origin of its op's inputs.
enum class Origin : char {
  kStatic,    // constants and shapes: the same for every run with the same shapes
  kArgument,  // integer arguments and values computed from them: change seldom (n in x[:n])
  kLoop,      // carried around a lowered loop: another value in each iteration
  kData,      // computed from data, read from a variable, drawn at random
};

// The origin of each node's results, by node id. `order` is a topological order of all nodes that ignores the back
// edges of loops.
std::vector<Origin> FindOrigins(const tensorflow::Graph& graph, const std::vector<tensorflow::Node*>& order);

// The inputs of a node whose values the compiler must know, including inputs that only the called functions need.
absl::StatusOr<std::vector<int>> CompileTimeConstantInputs(const tensorflow::Node& node,
                                                           tensorflow::FunctionLibraryRuntime* runtime);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_CONSTANT_ORIGIN_H_
