#include "plugin/tensorflow/kernels/collective/broadcast_source.h"

#include <utility>

#include "plugin/base/status_macros.h"
#include "plugin/tensorflow/kernels/collective/collective_watch.h"
#include "plugin/tensorflow/kernels/cpu_fallback/host_device.h"
#include "tensorflow/core/framework/collective.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/tensor_util.h"

namespace hpu {

using tensorflow::CollectiveParams;
using tensorflow::OpKernelContext;
using tensorflow::TensorShape;

absl::StatusOr<TensorShape> ReceivedShape(OpKernelContext* context) {
  TensorShape shape;
  const tensorflow::Tensor* tensor = nullptr;
  if (context->input("shape", &tensor).ok()) {
    HPU_RETURN_IF_ERROR(tensorflow::tensor::MakeShape(*tensor, &shape));
  } else {
    HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(context->op_kernel().def(), "shape", &shape));
  }
  return shape;
}

void FindBroadcastSource(OpKernelContext* context, const TensorShape& shape, bool sends, float timeout_s,
                         std::function<void(absl::StatusOr<int>)> found) {
  tensorflow::CollectiveExecutor* const executor = context->collective_executor();
  const absl::StatusOr<tensorflow::Device*> cpu = CpuDeviceOf(context);
  if (executor == nullptr || !cpu.ok()) {
    return found(
        cpu.ok() ? absl::InternalError(context->op_kernel().name() +
                                       ": the step has no collective executor; set the cluster up with tf.distribute")
                 : cpu.status());
  }
  auto* params = new CollectiveParams;
  params->name = context->op_kernel().name();
  params->is_source = sends;
  params->group.device_type = tensorflow::DeviceType(tensorflow::DEVICE_CPU);  // as in the CPU kernels
  params->group.group_key = KeyOf(*context, "group_key");
  params->group.group_size = KeyOf(*context, "group_size");
  params->instance.instance_key = KeyOf(*context, "instance_key");
  params->instance.type = tensorflow::BROADCAST_COLLECTIVE;
  params->instance.data_type = context->expected_output_dtype(0);
  params->instance.shape = shape;
  params->instance.impl_details.subdiv_offsets.push_back(0);
  params->instance.impl_details.timeout_seconds = timeout_s;
  executor->RunClosure([context, executor, params, attributes = (*cpu)->attributes(), found = std::move(found)] {
    executor->CompleteParamsAsync(
        attributes, params, context->cancellation_manager(), [params, found](const absl::Status& status) {
          const absl::StatusOr<int> source = status.ok() ? absl::StatusOr<int>(params->source_rank) : status;
          params->Unref();
          found(source);
        });
  });
}

}  // namespace hpu
