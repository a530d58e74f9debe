// Integer values known before the graph runs: constants, and dimensions of known shapes.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_KNOWN_NUMBERS_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_KNOWN_NUMBERS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "plugin/passes/analysis/static_shapes.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// A dimension of a tensor. The tensor is the only result of `node`.
struct SizeOfTensor {
  const tensorflow::Node* node;
  int dimension;
};

// Evaluates int32 constants and dimensions of known shapes. Sizes that shape inference loses behind an unknown batch
// size come from ShapeFormulas. Accepts null nodes, whose values are unknown. Not thread safe.
class KnownNumbers {
 public:
  // `graph` and `library` must outlive this object.
  KnownNumbers(tensorflow::Graph* graph, const tensorflow::FunctionLibraryDefinition* library)
      : graph_(graph), shapes_(graph, library) {}

  // Evaluates a constant, an element of a constant or an element of a shape (`tf.shape(x)[1]`), plus or minus
  // constants. nullopt for other nodes.
  std::optional<int64_t> Scalar(const tensorflow::Node* node);
  // The dimensions of a node's input; -1 for an unknown dimension. Empty if the rank is unknown.
  const std::vector<int64_t>& SizesOfInput(const tensorflow::Node& node, int input);

  // Whether two dimensions have the same size in each run. Neither size need be known.
  bool AreEqual(const SizeOfTensor& one, const SizeOfTensor& other) const;

 private:
  // The size of one dimension (negative: from the end) of a node's input; -1 if it is unknown.
  int64_t SizeOfInput(const tensorflow::Node& node, int input, int dimension);

  tensorflow::Graph* const graph_;
  LazyShapes shapes_;
  std::map<std::pair<const tensorflow::Node*, int>, std::vector<int64_t>> sizes_;  // of SizesOfInput
};

// The value of an int32 constant with one element; nullopt for other nodes.
std::optional<int32_t> ConstantScalar(const tensorflow::Node* node);

// The dimension that a node reads (`tf.shape(x)[1]`); nullopt for other nodes and for negative indices.
std::optional<SizeOfTensor> SizeReadBy(const tensorflow::Node& node);

// An int32 value as a source plus a constant. For any other node, the source is the node and `added` is 0.
struct Sum {
  const tensorflow::Node* source;  // may be null
  int64_t added = 0;
};
Sum SumOf(const tensorflow::Node& node);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_KNOWN_NUMBERS_H_
