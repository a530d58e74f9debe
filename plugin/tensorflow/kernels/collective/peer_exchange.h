// Direct collectives: TensorFlow's collective ops as exchanges between the devices of a group.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_PEER_EXCHANGE_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_PEER_EXCHANGE_H_

#include <functional>
#include <optional>

#include "plugin/tensorflow/kernels/collective/collective_group.h"
#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {

// Parameters of a collective op that devices run.
struct PeerExchange {
  CollectiveOperation::Kind kind = CollectiveOperation::Kind::kAllReduce;
  hal::ReduceOp reduce = hal::ReduceOp::kSum;
  bool sends = false;     // this rank is a broadcast's source
  float timeout_s = 0.0;  // time to wait for other ranks; 0: no limit
};

// Returns nullopt for an op that devices cannot run, and for an op that the graph does not order
// (passes::kByTransportAttr).
std::optional<PeerExchange> PeerExchangeOf(const tensorflow::NodeDef& node);

// Returns the group whose devices run the op in `context`. Null if the data must pass through host memory.
CollectiveGroup* CollectiveGroupFor(tensorflow::OpKernelContext* context, const std::optional<PeerExchange>& op);

// Runs an op through host memory.
using Transport = std::function<void(tensorflow::AsyncOpKernel::DoneCallback done)>;

// Runs the op in `context`. An all-reduce, or a broadcast on its source rank, writes its output to the input's memory
// if no other tensor shares the buffer. Calls `transport` instead if the devices' collectives do not support the type
// or the reduction (hal::Communicator fails with UNIMPLEMENTED); the output may then be allocated.
void ExchangeWithPeers(tensorflow::OpKernelContext* context, CollectiveGroup* group, const PeerExchange& op,
                       Transport transport, tensorflow::AsyncOpKernel::DoneCallback done);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_PEER_EXCHANGE_H_
