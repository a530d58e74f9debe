// Origins of compile-time constant inputs. A cluster needs one recipe for each value of such an input, so the input's
// origin predicts how often the cluster is recompiled.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_CONSTANT_ORIGIN_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_CONSTANT_ORIGIN_H_

#include <vector>

#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Ordered by how often the value changes. A result has the maximum of its op's own origin and its inputs' origins. Ops
// that read only shapes (Shape, Size, VariableShape) ignore their inputs. tf2xla cannot evaluate some ops while it
// compiles (a bincount, a segment sum, a loop): their results count as data, unless all inputs are constants of the
// graph.
enum class Origin : char {
  kConstant,  // constants of the graph, and results computed from them
  kStatic,    // shapes: fixed for given input shapes
  kArgument,  // integer and boolean arguments (n in x[:n]) and results computed from arguments: rarely change
  kLoop,      // results of Merge nodes: loop-carried values change in each iteration
  kData,      // data, variables and random numbers, and results computed from data
};

// The origin of each node's results, by node id. In the body of a function, all arguments are kArgument, because the
// caller's values decide.
std::vector<Origin> FindOrigins(const tensorflow::Graph& graph, bool is_body = false);

// The maximum origin of the inputs of a node that must be compile-time constants; kConstant without such inputs.
absl::StatusOr<Origin> OriginOfConstants(const tensorflow::Node& node, const std::vector<Origin>& origins,
                                         tensorflow::FunctionLibraryRuntime* runtime);

// The inputs of a node that must be compile-time constants, including inputs that the functions of While, If and
// PartitionedCall require. Empty for Case and other calls.
absl::StatusOr<std::vector<int>> CompileTimeConstantInputs(const tensorflow::Node& node,
                                                           tensorflow::FunctionLibraryRuntime* runtime);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_CONSTANT_ORIGIN_H_
