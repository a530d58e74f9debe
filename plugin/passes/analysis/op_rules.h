// Which ops stay out of clusters although XLA would take them, and why: docs/developer/pamsen.md explains each rule.
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

// What speaks against a node by its op and types alone, in a graph or in a function that a cluster would hold whole.
// Nothing is known about its compilability yet.
std::optional<OpRefusal> RefuseByOp(const tensorflow::Node& node);

// An op whose kernel on the CPU raises for indices out of range, where compiled code clamps or drops them.
struct IndexedOp {
  enum class Kind {
    kIndex,        // each from 0 to below the dimension
    kSlice,        // the same, unless the slices have no elements
    kBox,          // the same as kIndex: images of boxes
    kVector,       // each index is a vector: its components are bounded by the leading dimensions
    kLabel,        // classes: bounded by the last dimension
    kSegment,      // negative ones are dropped
    kLength,       // each from 0 to the dimension
    kPermutation,  // each from 0 to below the dimension, once
  };
  int indices;    // input that holds the indices
  int bound;      // input whose shape bounds them
  bool resource;  // whether bound is a variable's handle
  Kind kind;
  const char* axis = nullptr;  // name of the op's input or attribute; bounds dimension axis rather than 0
  bool sizes = false;          // bound holds the shape that bounds them, or one size, instead of having it
  bool needs_check = true;     // else a function that a cluster holds whole may have it unchecked
};

// Null for ops without such indices.
const IndexedOp* FindIndexedOp(std::string_view op);

// Whether a result holds just the values of its op's first input.
bool KeepsValues(const tensorflow::OutputTensor& tensor);

// Ops whose result's size is only known once it is computed but bounded; clusters may hold them when nothing of unknown
// size leaves the cluster.
bool HasBoundedSize(std::string_view op);

// Whether the op draws random numbers from state that XLA would ignore.
bool IsStatefulRandom(std::string_view op);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_OP_RULES_H_
