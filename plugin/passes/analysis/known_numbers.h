// Integers that are known from a graph before it runs.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_KNOWN_NUMBERS_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_KNOWN_NUMBERS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "plugin/passes/analysis/static_shapes.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Evaluates int32 constants and sizes of known shapes. A null node has no known value. Not thread safe.
class KnownNumbers {
 public:
  // Both outlive this.
  KnownNumbers(tensorflow::Graph* graph, const tensorflow::FunctionLibraryDefinition* library)
      : shapes_(graph, library) {}

  // The value of a constant, of an element of a constant or of a shape (`tf.shape(x)[1]`), or of either plus or minus a
  // constant.
  std::optional<int64_t> Scalar(const tensorflow::Node* node);
  // The sizes of a node's input, -1 for unknown ones; empty if the rank is unknown.
  std::vector<int64_t> SizesOfInput(const tensorflow::Node& node, int input);

 private:
  LazyShapes shapes_;
};

// The value of an int32 constant; nullopt for other nodes.
std::optional<int32_t> ConstantScalar(const tensorflow::Node* node);

// An int32 value as the sum of a source and a constant. A node that is no such sum is its own source, with `added` 0.
struct Sum {
  const tensorflow::Node* source;  // may be null
  int64_t added = 0;
};
Sum SumOf(const tensorflow::Node& node);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_KNOWN_NUMBERS_H_
