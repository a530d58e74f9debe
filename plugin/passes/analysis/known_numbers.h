// Whole numbers that a graph tells before it runs.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_KNOWN_NUMBERS_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_KNOWN_NUMBERS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "plugin/passes/analysis/static_shapes.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Constants of int32, and what is known of shapes. Nodes may be null: nothing is known of them. Not thread safe.
class KnownNumbers {
 public:
  // Both outlive this.
  KnownNumbers(tensorflow::Graph* graph, const tensorflow::FunctionLibraryDefinition* library)
      : shapes_(graph, library) {}

  // A constant, or an element of a constant or of a shape (`tf.shape(x)[1]`), or a constant more or less.
  std::optional<int64_t> Scalar(const tensorflow::Node* node);
  // The sizes of a node's input; -1 for those that are unknown, none at all if the rank is.
  std::vector<int64_t> SizesOfInput(const tensorflow::Node& node, int input);

 private:
  LazyShapes shapes_;
};

// The same of a constant alone.
std::optional<int32_t> ConstantScalar(const tensorflow::Node* node);

// A whole number (int32) as another one and a constant that is added to it or subtracted from it; other nodes are their
// own source.
struct Sum {
  const tensorflow::Node* source;  // may be null
  int64_t added = 0;
};
Sum SumOf(const tensorflow::Node& node);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_KNOWN_NUMBERS_H_
