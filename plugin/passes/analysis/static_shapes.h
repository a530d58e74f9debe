// Static shapes of tensors, from TensorFlow's shape inference.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_STATIC_SHAPES_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_STATIC_SHAPES_H_

#include <optional>
#include <utility>

#include "plugin/compat/graph_shapes.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Shapes of a graph's tensors, inferred once, in the constructor. Nodes are identified by name; nodes added later have
// unknown shapes.
class StaticShapes {
 public:
  StaticShapes(tensorflow::Graph* graph, const tensorflow::FunctionLibraryDefinition* library);

  tensorflow::PartialTensorShape Shape(const tensorflow::Node& node, int output) const;

  // The shape and dtype of the variable whose handle is an output; an unknown shape and DT_INVALID if they are unknown.
  std::pair<tensorflow::PartialTensorShape, tensorflow::DataType> Variable(const tensorflow::Node& node,
                                                                           int output) const;

  // The shape of a node's input. Follows the graph's current edges.
  tensorflow::PartialTensorShape InputShape(const tensorflow::Node& node, int input) const;

  // The largest rank among a node's inputs and outputs; 0 if none is known.
  int LargestRank(const tensorflow::Node& node) const;

 private:
  tensorflow::GraphShapeInfo shapes_;
};

// StaticShapes, inferred on first use, because most graphs need no shapes. Not thread safe.
class LazyShapes {
 public:
  // `graph` and `library` must outlive this object.
  LazyShapes(tensorflow::Graph* graph, const tensorflow::FunctionLibraryDefinition* library)
      : graph_(graph), library_(library) {}

  const StaticShapes& Get() {
    if (!shapes_.has_value()) shapes_.emplace(graph_, library_);
    return *shapes_;
  }

 private:
  tensorflow::Graph* const graph_;
  const tensorflow::FunctionLibraryDefinition* const library_;
  std::optional<StaticShapes> shapes_;
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_STATIC_SHAPES_H_
