// Which numbers bound an op's indices, and the names of the kinds of checks.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_INDEX_BOUNDS_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_INDEX_BOUNDS_H_

#include <cstdint>
#include <optional>

#include "plugin/op_facts/op_facts.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

using IndexKind = IndexedOp::Kind;

// The kind of an op's indices, and the dimension that bounds the indices.
struct IndexBound {
  IndexKind kind;
  int64_t axis = 0;
};

// The kind's name in the attribute "kind" of HabanaCheckIndices.
const char* NameOf(IndexKind kind);

// nullopt if the dimension depends on a value that the graph does not show. `op`: the facts about the node's op.
std::optional<IndexBound> BoundOfIndices(const tensorflow::Node& node, const IndexedOp& op);

// Whether indices of this dtype can be checked.
bool IsIndexType(tensorflow::DataType type);

// The only element of an int32 or int64 tensor.
int64_t ScalarOf(const tensorflow::Tensor& value);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_INDEX_BOUNDS_H_
