// FusedOp: registration of fused ops and their decompositions.
#ifndef HPU_PLUGIN_TENSORFLOW_FUSED_FUSED_OP_H_
#define HPU_PLUGIN_TENSORFLOW_FUSED_FUSED_OP_H_

#include <initializer_list>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/passes/patterns/op_text.h"
#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace hpu {

// The decomposition of a fused op, in the notation of op_text.h. Inputs and results have the names of the op's
// arguments, and $name inserts an attribute. The decomposition defines the op's CPU kernel and its lowering.
//
// Constructed while the plugin is loaded, by one thread.
class FusedOp {
 public:
  // `condition`: "attr=value", or empty for a decomposition of all nodes. If an op has several decompositions, the
  // first one whose condition holds applies.
  FusedOp(const char* op, const char* condition, std::string decomposition);

  // For a decomposition that depends on the node, for example on the length of a list input.
  FusedOp(const char* op, std::string (*decomposition)(const tensorflow::NodeDef& node));

  // Whether the op is fused. Thread safe once the plugin is loaded.
  static bool Contains(absl::string_view op);

  // Returns the first decomposition whose condition holds for the node. INTERNAL if no condition holds.
  static absl::StatusOr<std::vector<passes::OpStatement>> DecompositionOf(const tensorflow::NodeDef& node);
};

// Registers the CPU kernel and the lowering of an op that has a decomposition.
class FusedKernels {
 public:
  // `constants`: inputs whose values must be known at compile time. `only_shapes`: the op reads only input shapes.
  explicit FusedKernels(const char* op, std::initializer_list<const char*> constants = {}, bool only_shapes = false);
};

// Whether a node satisfies the condition of a decomposition.
bool IsSatisfied(const std::string& condition, const tensorflow::NodeDef& node);

// Shape function of gradients with inputs (dy, x) or (dy, y): the result has the shape of the second input.
tensorflow::Status ShapeOfSecondInput(tensorflow::shape_inference::InferenceContext* c);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_FUSED_FUSED_OP_H_
