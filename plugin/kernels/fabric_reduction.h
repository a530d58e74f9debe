// Reductions of a kernel's tensor by the devices of its group themselves.
#ifndef HPU_PLUGIN_KERNELS_FABRIC_REDUCTION_H_
#define HPU_PLUGIN_KERNELS_FABRIC_REDUCTION_H_

#include <optional>

#include "plugin/kernels/fabric_group.h"
#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {

// What the op reduces by; nothing if it is no reduction that devices do.
std::optional<hal::ReduceOp> ReduceOpOf(const tensorflow::NodeDef& node);

// The group that reduces the input of the op in `context` in its devices; null if none does.
FabricGroup* FabricFor(tensorflow::OpKernelContext* context, const std::optional<hal::ReduceOp>& op);

// The op in `context`, whose output takes its input's memory if nobody else has that.
void ReduceInFabric(tensorflow::OpKernelContext* context, FabricGroup* group, hal::ReduceOp op,
                    tensorflow::AsyncOpKernel::DoneCallback done);

}  // namespace hpu

#endif  // HPU_PLUGIN_KERNELS_FABRIC_REDUCTION_H_
