// Names of the graphs that TensorFlow gives to the passes.
#ifndef HPU_PLUGIN_PASSES_GRAPH_GRAPH_NAMES_H_
#define HPU_PLUGIN_PASSES_GRAPH_GRAPH_NAMES_H_

#include <string>

#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// The full name of the function that is being instantiated; empty for a Session's graph.
std::string FunctionName(const tensorflow::GraphOptimizationPassOptions& options);

// What a graph's clusters, dumps and report are called: the function's name without its unique id; for a Session's
// graph one that is made of its nodes' names.
std::string NameOfGraph(const std::string& function, const tensorflow::Graph& graph);

// Whether a graph is for others to cut: an eager op's wrapper, or the function of a cluster.
bool IsOthersGraph(const std::string& function);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_GRAPH_GRAPH_NAMES_H_
