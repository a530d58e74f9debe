// Names of the graphs on which the graph passes run.
#ifndef HPU_PLUGIN_PASSES_GRAPH_GRAPH_NAMES_H_
#define HPU_PLUGIN_PASSES_GRAPH_GRAPH_NAMES_H_

#include <string>

#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// The full name of the function whose graph is optimised; empty for a Session's graph.
std::string FunctionName(const tensorflow::GraphOptimizationPassOptions& options);

// The name of a graph in cluster names, dumps and reports. For a function: its name without the unique id. For a
// Session's graph: a hash of the node names.
std::string NameOfGraph(const std::string& function, const tensorflow::Graph& graph);

// Whether the passes must skip the function's graph: a wrapper of an eager op, or the function of a cluster.
bool IsSkippedGraph(const std::string& function);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_GRAPH_GRAPH_NAMES_H_
