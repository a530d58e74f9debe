// Integers from which the graph computes the indices of an op.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_INDEX_SOURCES_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_INDEX_SOURCES_H_

#include <cstdint>
#include <optional>

#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// The integers that the graph converts to floating-point `numbers`, as Keras 3's losses do with labels. Returns
// `numbers` if there are none, or if rounding may move an integer into or out of the range below `size`.
tensorflow::OutputTensor IntegersOf(const tensorflow::OutputTensor& numbers, int64_t size);

// SelectV2(index < 0, index + size, index), with which keras.ops.take counts negative indices from the end.
struct WrappedIndex {
  tensorflow::OutputTensor index;
  int64_t size;
};

// nullopt for other tensors.
std::optional<WrappedIndex> FindWrappedIndex(const tensorflow::OutputTensor& tensor);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_INDEX_SOURCES_H_
