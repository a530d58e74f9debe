#include "plugin/tensorflow/kernels/collective/peer_exchange.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/trace/trace.h"
#include "plugin/passes/collectives/collective_pass.h"
#include "plugin/tensorflow/kernels/collective/broadcast_source.h"
#include "plugin/tensorflow/kernels/collective/collective_watch.h"
#include "plugin/tensorflow/kernels/staged_tensor.h"
#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu {
namespace {

using OperationKind = CollectiveOperation::Kind;
using tensorflow::AsyncOpKernel;
using tensorflow::CancellationManager;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::TensorShape;
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
    case tensorflow::DT_BOOL:
      return hal::DataType::kBool;
    default:
      return std::nullopt;
  }
}

std::optional<hal::ReduceOp> ReduceOpOf(const tensorflow::NodeDef& node) {
  std::string merge, final;
  if (!tensorflow::TryGetNodeAttr(node, "merge_op", &merge)) return std::nullopt;
  tensorflow::TryGetNodeAttr(node, "final_op", &final);  // CollectiveReduceScatterV2 may lack the attribute
  if (final == "Div") return merge == "Add" ? std::make_optional(hal::ReduceOp::kAverage) : std::nullopt;
  if (merge == "Add") return hal::ReduceOp::kSum;
  if (merge == "Mul") return hal::ReduceOp::kProduct;
  if (merge == "Min") return hal::ReduceOp::kMin;
  if (merge == "Max") return hal::ReduceOp::kMax;
  return std::nullopt;
}

std::optional<OperationKind> KindOf(absl::string_view op) {
  absl::ConsumeSuffix(&op, "V2");
  if (op == "CollectiveReduce") return OperationKind::kAllReduce;
  if (op == "CollectiveReduceScatter") return OperationKind::kReduceScatter;
  if (op == "CollectiveGather") return OperationKind::kAllGather;
  if (op == "CollectiveAllToAll") return OperationKind::kAllToAll;
  if (op == "CollectiveBcastSend" || op == "CollectiveBcastRecv") return OperationKind::kBroadcast;
  return std::nullopt;
}

absl::StatusOr<TensorShape> OutputShape(OpKernelContext* context, const PeerExchange& op, int ranks) {
  if (op.kind == OperationKind::kBroadcast && !op.sends) return ReceivedShape(context);
  TensorShape shape = context->input(0).shape();
  if (op.kind == OperationKind::kAllReduce || op.kind == OperationKind::kBroadcast) return shape;
  const int64_t length = shape.dims() > 0 ? shape.dim_size(0) : 0;
  const bool divides = op.kind == OperationKind::kReduceScatter ? length % ranks == 0 : length == ranks;
  if (shape.dims() == 0 || (op.kind != OperationKind::kAllGather && !divides)) {
    const char* const expected = op.kind == OperationKind::kAllGather ? "the input must have at least one dimension"
                                 : op.kind == OperationKind::kReduceScatter
                                     ? "the first dimension must be divisible by the number of ranks"
                                     : "the first dimension must equal the number of ranks";
    return absl::InvalidArgumentError(absl::StrCat(context->op_kernel().type_string(), ": invalid input shape ",
                                                   shape.DebugString(), " for ", ranks, " ranks: ", expected));
  }
  if (op.kind == OperationKind::kAllGather) shape.set_dim(0, length * ranks);
  if (op.kind == OperationKind::kReduceScatter) shape.set_dim(0, length / ranks);
  return shape;
}

// One execution on the devices of a group. Deletes itself at the end.
class Exchange {
 public:
  Exchange(OpKernelContext* context, CollectiveGroup* group, const PeerExchange& op, Transport transport,
           AsyncOpKernel::DoneCallback done)
      : context_(context),
        group_(group),
        op_(op),
        transport_(std::move(transport)),
        done_(std::move(done)),
        staged_(FindStaged(context)) {}

  void Start() {
    const absl::Status prepared = Prepare();
    if (!prepared.ok()) return End(prepared);
    if (op_.kind != OperationKind::kBroadcast) return Queue();
    FindBroadcastSource(context_, context_->mutable_output(0)->shape(), op_.sends, op_.timeout_s,
                        [this](const absl::StatusOr<int>& source) {
                          if (!source.ok()) return End(source.status());
                          operation_.root = *source;
                          Queue();
                        });
  }

 private:
  // Whether the op has input data.
  bool Reads() const { return op_.kind != OperationKind::kBroadcast || op_.sends; }

  // Returns CollectiveOperation::elements. Error texts show the shape of this rank's whole tensor.
  hal::Elements ElementsOf(const Tensor& output) const {
    const Tensor& part = op_.kind == OperationKind::kAllGather ? context_->input(0) : output;
    uint64_t count = static_cast<uint64_t>(part.NumElements());
    if (op_.kind == OperationKind::kAllToAll) count /= group_->size();
    std::string shape = (Reads() ? context_->input(0) : output).shape().DebugString();
    if (shape.size() > hal::Elements::kMaxShapeBytes) shape.resize(hal::Elements::kMaxShapeBytes);
    return hal::Elements(count, std::move(shape));
  }

  absl::Status Prepare() {
    const absl::StatusOr<TensorShape> shape = OutputShape(context_, op_, group_->size());
    if (!shape.ok()) return shape.status();
    Tensor* output = nullptr;
    if (op_.kind == OperationKind::kAllReduce || (op_.kind == OperationKind::kBroadcast && op_.sends)) {
      HPU_RETURN_IF_ERROR(context_->forward_input_or_allocate_output({0}, 0, *shape, &output));
    } else {
      HPU_RETURN_IF_ERROR(context_->allocate_output(0, *shape, &output));
    }
    operation_.kind = op_.kind;
    operation_.op = op_.reduce;
    operation_.dtype = *HalType(output->dtype());
    operation_.destination = AddressOf(*output);
    operation_.source = Reads() ? AddressOf(context_->input(0)) : operation_.destination;
    operation_.elements = ElementsOf(*output);
    // Only an in-place operation can start at `ready`: queued compute work may still use the memory of a new output.
    const bool in_place = operation_.destination == operation_.source;
    if (staged_ != nullptr && in_place) operation_.ready = staged_->ready.get();
    return absl::OkStatus();
  }

  void Queue() {
    cancellation_ = context_->cancellation_manager();
    if (cancellation_ != nullptr) {
      token_ = cancellation_->get_cancellation_token();
      if (!cancellation_->RegisterCallback(token_, [group = group_] { group->Abort(); })) {
        cancellation_ = nullptr;
        return End(absl::CancelledError(
            absl::StrCat(context_->op_kernel().name(), ": the step was cancelled; see the first error of the step")));
      }
    }
    CollectiveWatch::Wait wait;
    wait.data = Reads() ? &context_->input(0) : nullptr;
    wait.members = &group_->members();
    wait.timeout_s = op_.timeout_s;
    wait.on_timeout = [group = group_, late = late_] {
      *late = true;
      group->Abort();
    };
    watch_ = CollectiveWatch::Get().Begin(*context_, std::move(wait));
    traced_.emplace(trace::Lane::kCollective, context_->op_kernel().name(), context_->mutable_output(0)->TotalBytes());
    const absl::Status queued = group_->Queue(operation_, [this](absl::Status status) { End(std::move(status)); });
    // The type and the reduction decide this, so all ranks choose the transport.
    if (absl::IsUnimplemented(queued)) return PassToTransport();
    if (!queued.ok()) End(queued);
  }

  void EndWait() {
    watch_.reset();
    traced_.reset();
    if (cancellation_ != nullptr) cancellation_->DeregisterCallback(token_);
  }

  void PassToTransport() {
    EndWait();
    const Transport transport = std::move(transport_);
    AsyncOpKernel::DoneCallback done = std::move(done_);
    delete this;
    transport(std::move(done));
  }

  void End(absl::Status status) {
    EndWait();
    if (!status.ok() && *late_) {
      status =
          absl::DeadlineExceededError(absl::StrCat(context_->op_kernel().name(), ": timed out after ", op_.timeout_s,
                                                   " s waiting for other ranks: check that every rank executes "
                                                   "this collective, or raise the op's timeout_seconds"));
    }
    if (!status.ok()) context_->SetStatus(status);
    const AsyncOpKernel::DoneCallback done = std::move(done_);
    delete this;
    done();
  }

  OpKernelContext* const context_;
  CollectiveGroup* const group_;
  const PeerExchange op_;
  Transport transport_;
  AsyncOpKernel::DoneCallback done_;
  const RefCountPtr<Staged> staged_;
  CollectiveOperation operation_;
  CancellationManager* cancellation_ = nullptr;
  tensorflow::CancellationToken token_ = CancellationManager::kInvalidToken;
  std::unique_ptr<CollectiveWatch::Entry> watch_;
  std::optional<trace::Scope> traced_;
  const std::shared_ptr<std::atomic<bool>> late_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace

std::optional<PeerExchange> PeerExchangeOf(const tensorflow::NodeDef& node) {
  const std::optional<OperationKind> kind = KindOf(node.op());
  bool by_transport = false;
  if (!kind.has_value() || tensorflow::TryGetNodeAttr(node, passes::kByTransportAttr, &by_transport)) {
    return std::nullopt;
  }
  PeerExchange op;
  op.kind = *kind;
  op.sends = absl::StrContains(node.op(), "Send");
  tensorflow::TryGetNodeAttr(node, "timeout_seconds", &op.timeout_s);
  if (op.kind != OperationKind::kAllReduce && op.kind != OperationKind::kReduceScatter) return op;
  const std::optional<hal::ReduceOp> reduce = ReduceOpOf(node);
  if (!reduce.has_value()) return std::nullopt;
  op.reduce = *reduce;
  return op;
}

CollectiveGroup* CollectiveGroupFor(OpKernelContext* context, const std::optional<PeerExchange>& op) {
  if (!op.has_value() || context->output_memory_type(0) == tensorflow::HOST_MEMORY) return nullptr;
  if (!HalType(context->expected_output_dtype(0)).has_value()) return nullptr;
  CollectiveGroup* const group = CollectiveGroup::Find(KeyOf(*context, "group_key"));
  // Sender and receiver must choose the same path, although one may run eagerly and the other in a graph.
  return group != nullptr && op->kind == OperationKind::kBroadcast && !group->Broadcasts() ? nullptr : group;
}

void ExchangeWithPeers(OpKernelContext* context, CollectiveGroup* group, const PeerExchange& op, Transport transport,
                       AsyncOpKernel::DoneCallback done) {
  (new Exchange(context, group, op, std::move(transport), std::move(done)))->Start();
}

}  // namespace hpu
