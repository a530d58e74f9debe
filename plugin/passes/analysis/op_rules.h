// Ops that stay out of clusters although XLA would take them: docs/developer/pamsen.md explains each rule.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_OP_RULES_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_OP_RULES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

struct OpRefusal {
  std::string rule;
  std::string reason;
};

// Why a node stays out of clusters, judged by its op and types alone; nullopt says nothing about its compilability.
// Applies to nodes of a graph and of functions that a cluster holds whole.
std::optional<OpRefusal> RefuseByOp(const tensorflow::Node& node);

// An op whose CPU kernel fails for indices out of range, where compiled code clamps or drops them.
struct IndexedOp {
  enum class Kind {
    kIndex,        // each is in [0, dimension)
    kSlice,        // like kIndex, unless the slices have no elements
    kBox,          // like kIndex: the indices select the image of each box
    kVector,       // each index is a vector; the leading dimensions bound its components
    kLabel,        // classes; the last dimension bounds them
    kSegment,      // like kIndex, but negative ones are dropped
    kLength,       // each is in [0, dimension]
    kPermutation,  // each is in [0, dimension), and occurs once
  };
  int indices;    // input that holds the indices
  int bound;      // input whose shape bounds them
  bool resource;  // `bound` is the handle of a variable
  Kind kind;
  const char* axis = nullptr;  // name of the input or attribute with the bounding dimension; null: 0
  bool sizes = false;          // the value of `bound` is the bounding shape or size; else its shape bounds
  bool needs_check = true;     // else a function in a cluster may hold the op unchecked
};

// Null for ops without such indices.
const IndexedOp* FindIndexedOp(std::string_view op);

// Whether a result holds only values of its op's first input.
bool KeepsValues(const tensorflow::OutputTensor& tensor);

// Ops whose result has a bounded size that is known only after it is computed. A cluster may hold them if no tensor of
// unknown size leaves it.
bool HasBoundedSize(std::string_view op);

// Whether the op draws random numbers from a state that XLA would ignore.
bool IsStatefulRandom(std::string_view op);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_OP_RULES_H_
