#include "plugin/kernels/fabric_reduction.h"

#include <memory>
#include <string>
#include <utility>

#include "plugin/kernels/collective_watch.h"
#include "plugin/kernels/staged_tensor.h"
#include "plugin/trace/trace.h"
#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu {
namespace {

using tensorflow::AsyncOpKernel;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::core::RefCountPtr;

std::optional<hal::DataType> HalType(tensorflow::DataType type) {
  switch (type) {
    case tensorflow::DT_FLOAT:
      return hal::DataType::kFloat32;
    case tensorflow::DT_BFLOAT16:
      return hal::DataType::kBFloat16;
    case tensorflow::DT_HALF:
      return hal::DataType::kFloat16;
    case tensorflow::DT_DOUBLE:
      return hal::DataType::kFloat64;
    case tensorflow::DT_INT64:
      return hal::DataType::kInt64;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<hal::ReduceOp> ReduceOpOf(const tensorflow::NodeDef& node) {
  std::string merge, final;
  if (!tensorflow::TryGetNodeAttr(node, "merge_op", &merge) || !tensorflow::TryGetNodeAttr(node, "final_op", &final)) {
    return std::nullopt;
  }
  if (final == "Div") return merge == "Add" ? std::make_optional(hal::ReduceOp::kAverage) : std::nullopt;
  if (merge == "Add") return hal::ReduceOp::kSum;
  if (merge == "Mul") return hal::ReduceOp::kProduct;
  if (merge == "Min") return hal::ReduceOp::kMin;
  if (merge == "Max") return hal::ReduceOp::kMax;
  return std::nullopt;
}

FabricGroup* FabricFor(OpKernelContext* context, const std::optional<hal::ReduceOp>& op) {
  if (!op.has_value() || !HalType(context->input_dtype(0)).has_value()) return nullptr;
  return FabricGroup::Find(KeyOf(*context, "group_key"));
}

void ReduceInFabric(OpKernelContext* context, FabricGroup* group, hal::ReduceOp op, AsyncOpKernel::DoneCallback done) {
  const Tensor& input = context->input(0);
  FabricReduction reduction;
  reduction.source = AddressOf(input);
  reduction.count = static_cast<uint64_t>(input.NumElements());
  reduction.dtype = *HalType(input.dtype());
  reduction.op = op;
  Tensor* output = nullptr;
  OP_REQUIRES_OK_ASYNC(context, context->forward_input_or_allocate_output({0}, 0, input.shape(), &output), done);
  reduction.destination = AddressOf(*output);
  const RefCountPtr<Staged> staged = FindStaged(context);
  // New memory may still be in use by compute work that is queued.
  if (staged != nullptr && reduction.destination == reduction.source) reduction.ready = staged->ready.get();
  tensorflow::CancellationManager* const cancellation = context->cancellation_manager();
  const auto token =
      cancellation == nullptr ? tensorflow::CancellationManager::kInvalidToken : cancellation->get_cancellation_token();
  if (cancellation != nullptr && !cancellation->RegisterCallback(token, [group] { group->Abort(); })) {
    context->SetStatus(absl::CancelledError("the step was cancelled"));
    return done();
  }
  std::shared_ptr<CollectiveWatch::Entry> watch = CollectiveWatch::Get().Begin(*context, &input);
  auto traced =
      std::make_shared<trace::Scope>(trace::Lane::kCollective, context->op_kernel().name(), input.TotalBytes());
  const absl::Status queued =
      group->Reduce(reduction, [context, cancellation, token, watch, traced, done](absl::Status status) {
        if (cancellation != nullptr) cancellation->DeregisterCallback(token);
        if (!status.ok()) context->SetStatus(status);
        done();
      });
  if (queued.ok()) return;
  if (cancellation != nullptr) cancellation->DeregisterCallback(token);
  context->SetStatus(queued);
  done();
}

}  // namespace hpu
