// Fused ops and the plain ops that each stands for.
#ifndef HPU_PLUGIN_TENSORFLOW_FUSED_FUSED_OP_H_
#define HPU_PLUGIN_TENSORFLOW_FUSED_FUSED_OP_H_

#include <initializer_list>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/passes/patterns/op_text.h"
#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace hpu {

// What a fused op computes, in the notation of op_text.h: inputs and results have the names of the op's arguments, and
// $name inserts an attribute. It is the op's kernel on the CPU and its lowering.
//
// Made while the plugin is loaded, by one thread.
class FusedOp {
 public:
  // `condition` is "attr=value" where an op has one text for each value of an attribute, or empty; the first that holds
  // counts.
  FusedOp(const char* op, const char* condition, std::string decomposition);

  // The text for a node.
  static absl::StatusOr<std::vector<passes::OpStatement>> DecompositionOf(const tensorflow::NodeDef& node);
};

// Registers the kernel on the CPU and the lowering of an op that has a text.
class FusedKernels {
 public:
  // `constants` names inputs whose values the compiler must know; `only_shapes`: of all inputs only the shapes matter.
  explicit FusedKernels(const char* op, std::initializer_list<const char*> constants = {}, bool only_shapes = false);
};

// The shape function of gradients, which take dy and then x or y: their result has the shape of the latter.
tensorflow::Status ShapeOfSecondInput(tensorflow::shape_inference::InferenceContext* c);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_FUSED_FUSED_OP_H_
