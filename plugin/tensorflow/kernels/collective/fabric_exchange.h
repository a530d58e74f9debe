// Collective ops of TensorFlow whose data the devices of a group exchange themselves.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_FABRIC_EXCHANGE_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_FABRIC_EXCHANGE_H_

#include <optional>

#include "plugin/tensorflow/kernels/collective/fabric_group.h"
#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {

// What an op asks of the devices.
struct FabricOp {
  FabricOperation::Kind kind = FabricOperation::Kind::kAllReduce;
  hal::ReduceOp reduce = hal::ReduceOp::kSum;
  bool sends = false;     // a broadcast's source
  float timeout_s = 0.0;  // for other ranks; 0 waits without end
};

// Nothing if it is no operation that devices do, or one that the graph does not order (passes::kByTransportAttr).
std::optional<FabricOp> FabricOpOf(const tensorflow::NodeDef& node);

// The group whose devices do the op in `context`; null if none does.
FabricGroup* FabricFor(tensorflow::OpKernelContext* context, const std::optional<FabricOp>& op);

// Does the op in `context`. Its output takes its input's memory where sizes agree and nobody else has that.
void ExchangeInFabric(tensorflow::OpKernelContext* context, FabricGroup* group, const FabricOp& op,
                      tensorflow::AsyncOpKernel::DoneCallback done);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_FABRIC_EXCHANGE_H_
