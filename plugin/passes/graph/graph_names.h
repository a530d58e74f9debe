// Names of the graphs that TensorFlow passes to the graph passes.
#ifndef HPU_PLUGIN_PASSES_GRAPH_GRAPH_NAMES_H_
#define HPU_PLUGIN_PASSES_GRAPH_GRAPH_NAMES_H_

#include <string>

#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// The full name of the function that is being instantiated; empty for a Session's graph.
std::string FunctionName(const tensorflow::GraphOptimizationPassOptions& options);

// The name of a graph for its clusters, dumps and report: the function's name without its unique id. A Session's graph
// gets a name derived from its nodes' names.
std::string NameOfGraph(const std::string& function, const tensorflow::Graph& graph);

// Whether other code clusters the graph: the wrapper of an eager op, or the function of a cluster.
bool IsOthersGraph(const std::string& function);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_GRAPH_GRAPH_NAMES_H_
