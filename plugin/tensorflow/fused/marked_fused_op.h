// MarkedFusedOp: a fused op whose lowering for a Gaudi is a marked call (plugin/program/marked_call.h).
#ifndef HPU_PLUGIN_TENSORFLOW_FUSED_MARKED_FUSED_OP_H_
#define HPU_PLUGIN_TENSORFLOW_FUSED_MARKED_FUSED_OP_H_

#include <vector>

#include "tensorflow/core/framework/op_kernel.h"
#include "xla/client/xla_builder.h"

namespace hpu {

// Constructed while the plugin is loaded, by one thread.
class MarkedFusedOp {
 public:
  // `condition`: as in FusedOp; only nodes that satisfy it are marked. The marked call has `operation` and
  // `attributes`. Its operands are the op's inputs, and `body` builds its computation. The op has one result.
  MarkedFusedOp(const char* op, const char* condition, const char* operation, const char* attributes,
                xla::XlaOp (*body)(const std::vector<xla::XlaOp>& operands));
};

// Creates the lowering of a marked node. Returns null for other nodes.
tensorflow::OpKernel* MakeMarkedKernel(tensorflow::OpKernelConstruction* construction);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_FUSED_MARKED_FUSED_OP_H_
