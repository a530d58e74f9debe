// MarkedFusedOp: a fused op whose lowering is a marked call (plugin/program/marked_call.h) if the backend wants the
// mark.
#ifndef HPU_PLUGIN_TENSORFLOW_FUSED_MARKED_FUSED_OP_H_
#define HPU_PLUGIN_TENSORFLOW_FUSED_MARKED_FUSED_OP_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu {

// Adds the marked call of a node and sets all results of the node. Returns false, and sets no result, if the operation
// is not defined for the node's shapes or attributes.
using Marker =
    std::function<absl::StatusOr<bool>(tensorflow::XlaOpKernelContext* context, const tensorflow::NodeDef& node)>;

// Nodes that cannot be marked (CanMark) are lowered by their decomposition. Constructed while the plugin is loaded, by
// one thread.
class MarkedFusedOp {
 public:
  // `condition`: as in FusedOp; only nodes that satisfy it are marked.
  MarkedFusedOp(const char* op, const char* condition, const char* operation, Marker marker);

  // For ops with one result. The operands of the marked call are the op's inputs, and `body` builds its computation.
  MarkedFusedOp(const char* op, const char* condition, const char* operation, const char* attributes,
                xla::XlaOp (*body)(const std::vector<xla::XlaOp>& operands));
};

// Creates the lowering of a marked node. Returns null for other nodes.
tensorflow::OpKernel* MakeMarkedKernel(tensorflow::OpKernelConstruction* construction);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_FUSED_MARKED_FUSED_OP_H_
