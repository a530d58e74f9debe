// HPU kernels of TensorFlow's collective ops. If the devices of a group cannot exchange data directly
// (peer_exchange.h), or do not support an op's type, the data pass through host memory. CPU kernels then exchange the
// data with other workers over TensorFlow's transport. (TensorFlow's DEVICE_DEFAULT kernels would reduce into a copy of
// the device's buffers and drop the result.)
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/trace/trace.h"
#include "plugin/tensorflow/device/hpu_device.h"
#include "plugin/tensorflow/device/process_device.h"
#include "plugin/tensorflow/kernels/collective/collective_watch.h"
#include "plugin/tensorflow/kernels/collective/exchange_call.h"
#include "plugin/tensorflow/kernels/collective/peer_exchange.h"
#include "plugin/tensorflow/kernels/compile_policy.h"
#include "plugin/tensorflow/kernels/cpu_fallback/host_device.h"
#include "plugin/tensorflow/kernels/host_copy.h"
#include "plugin/tensorflow/kernels/staged_tensor.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_handle.h"
#include "tsl/platform/errors.h"
#include "tsl/platform/statusor.h"

namespace hpu {
namespace {

using tensorflow::AsyncOpKernel;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::core::RefCountPtr;

// One execution through host memory: copies to the host, the CPU kernel, copies back. Deletes itself at the end.
class Run {
 public:
  Run(OpKernelContext* context, ProcessDevice& device, std::shared_ptr<AsyncOpKernel> kernel,
      AsyncOpKernel::DoneCallback done)
      : context_(context), device_(device), kernel_(std::move(kernel)), done_(std::move(done)) {}

  void Start() {
    waiting_ = context_->num_inputs() + 1;
    inputs_.resize(context_->num_inputs());
    staged_ = FindStaged(context_);
    if (staged_ != nullptr && staged_->ready != nullptr) staged_.reset();  // there is no host copy
    for (int i = 0; i < context_->num_inputs(); ++i) CopyInput(i);
    Arrived(absl::OkStatus());
  }

 private:
  void CopyInput(int i) {
    const Tensor& input = context_->input(i);
    if (i == 0 && staged_ != nullptr) {
      return staged_->WhenArrived([this](absl::Status status) {
        inputs_[0] = std::move(staged_->tensor);  // not shared, so the CPU kernel may reduce in place
        Arrived(std::move(status));
      });
    }
    if (input.TotalBytes() == 0 || !device_.Owns(input.data())) {
      inputs_[i] = input;
      return Arrived(absl::OkStatus());
    }
    absl::Status queued = CopyToNewHostTensor(context_->op_kernel().name(), device_, input, &inputs_[i],
                                              [this](absl::Status status) { Arrived(std::move(status)); });
    if (!queued.ok()) Arrived(std::move(queued));
  }

  // Called once for each input and once by Start.
  void Arrived(absl::Status status) {
    if (!status.ok()) {
      absl::MutexLock lock(&mutex_);
      status_.Update(status);
    }
    if (waiting_.fetch_sub(1) > 1) return;
    if (!status_.ok()) return End(status_);
    const absl::Status started = Exchange();
    if (!started.ok()) End(started);
  }

  absl::Status Exchange() {
    HPU_ASSIGN_OR_RETURN(tensorflow::Device * cpu, CpuDeviceOf(context_));
    HPU_ASSIGN_OR_RETURN(HostDevice * host, HostDevice::Get());
    const bool receives = absl::StrContains(context_->op_kernel().type_string(), "Recv");
    // CollectiveBcastRecv (V1) has no input.
    const uint64_t bytes = inputs_.empty() ? 0 : inputs_[0].TotalBytes();
    traced_.emplace(trace::Lane::kCollective, context_->op_kernel().name(), bytes);
    CollectiveWatch::Wait wait;
    wait.data = receives ? nullptr : &inputs_[0];
    watch_ = CollectiveWatch::Get().Begin(*context_, std::move(wait));
    call_ = std::make_unique<ExchangeCall>(context_, kernel_, cpu, host->runner(), std::move(inputs_));
    call_->Start([this] { CopyOutputs(); });
    return absl::OkStatus();
  }

  void CopyOutputs() {
    watch_.reset();
    traced_.reset();
    std::vector<Tensor> outputs;
    const absl::Status exchanged = call_->TakeOutputs(&outputs);
    if (!exchanged.ok()) {
      ExchangeCall::Keep(std::move(call_));
      return End(exchanged);
    }
    call_.reset();
    if (context_->output_memory_type(0) == tensorflow::HOST_MEMORY) {
      context_->set_output(0, outputs[0]);
      return End(absl::OkStatus());
    }
    Tensor* output = context_->mutable_output(0);  // allocated if the devices have refused the op
    absl::Status allocated;
    if (output == nullptr) allocated = context_->allocate_output(0, outputs[0].shape(), &output);
    if (!allocated.ok() || output->TotalBytes() == 0) return End(allocated);
    const uint64_t bytes = output->TotalBytes();
    const void* source = outputs[0].data();
    device_.CopyToDeviceAsync(source, AddressOf(*output), bytes,
                              [this, held = outputs[0]](absl::Status status) { End(std::move(status)); });
  }

  void End(absl::Status status) {
    if (!status.ok()) context_->SetStatus(status);
    const AsyncOpKernel::DoneCallback done = std::move(done_);
    delete this;
    done();
  }

  OpKernelContext* const context_;
  ProcessDevice& device_;
  const std::shared_ptr<AsyncOpKernel> kernel_;
  AsyncOpKernel::DoneCallback done_;
  std::atomic<int> waiting_{0};
  absl::Mutex mutex_;
  absl::Status status_;  // guarded by mutex_ until all inputs have arrived
  RefCountPtr<Staged> staged_;
  std::vector<Tensor> inputs_;
  std::unique_ptr<CollectiveWatch::Entry> watch_;
  std::optional<trace::Scope> traced_;  // covers the exchange between the workers
  std::unique_ptr<ExchangeCall> call_;
};

class StartKernel : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    absl::StatusOr<ProcessDevice*> device = ProcessDevice::Get();
    OP_REQUIRES_OK(context, device.status());
    const Tensor& input = context->input(0);
    auto* staged = new Staged;
    Tensor handle(tensorflow::DT_RESOURCE, {});
    handle.scalar<tensorflow::ResourceHandle>()() =
        tensorflow::ResourceHandle::MakeRefCountingHandle(staged, context->device()->name());
    if (CollectiveGroup::Any()) {
      absl::StatusOr<EventPool::Lease> ready = (*device)->events().Record((*device)->compute());
      OP_REQUIRES_OK(context, ready.status());
      staged->ready = *std::move(ready);
    } else if (input.TotalBytes() == 0) {
      staged->tensor = input;
      staged->Arrived(absl::OkStatus());
    } else {
      // The copy's source must stay allocated until the copy has ended.
      OP_REQUIRES_OK(context, CopyToNewHostTensor(name(), **device, input, &staged->tensor,
                                                  [handle, staged, input](absl::Status status) {
                                                    staged->Arrived(std::move(status));
                                                  }));
    }
    context->set_output(0, handle);
  }
};

class CollectiveKernel : public AsyncOpKernel {
 public:
  explicit CollectiveKernel(tensorflow::OpKernelConstruction* construction)
      : AsyncOpKernel(construction), exchange_(PeerExchangeOf(construction->def())) {
    absl::StatusOr<std::unique_ptr<tensorflow::OpKernel>> kernel =
        MakeCpuKernel(construction->def(), construction->graph_def_version());
    OP_REQUIRES_OK(construction, kernel.status());
    OP_REQUIRES(
        construction, (*kernel)->AsAsync() != nullptr,
        absl::InternalError(absl::StrCat(
            type_string(), ": the CPU kernel is not asynchronous; use a TensorFlow version that the plugin supports")));
    kernel_.reset((*kernel).release()->AsAsync());
    RequireEqualChoices();
  }

  void ComputeAsync(OpKernelContext* context, DoneCallback done) override {
    absl::StatusOr<ProcessDevice*> device = ProcessDevice::Get();
    OP_REQUIRES_OK_ASYNC(context, device.status(), done);
    const Transport transport = [context, device = *device, kernel = kernel_](DoneCallback done) {
      (new Run(context, *device, kernel, std::move(done)))->Start();
    };
    if (CollectiveGroup* group = CollectiveGroupFor(context, exchange_)) {
      return ExchangeWithPeers(context, group, *exchange_, transport, std::move(done));
    }
    transport(std::move(done));
  }

 private:
  std::shared_ptr<AsyncOpKernel> kernel_;
  const std::optional<PeerExchange> exchange_;
};

class CollectiveKernelFactory : public tensorflow::kernel_factory::OpKernelFactory {
 public:
  tensorflow::OpKernel* Create(tensorflow::OpKernelConstruction* construction) override {
    return new CollectiveKernel(construction);
  }
};

constexpr const char* kOps[] = {"CollectiveReduce",      "CollectiveGather",      "CollectiveBcastSend",
                                "CollectiveBcastRecv",   "CollectiveReduceV2",    "CollectiveGatherV2",
                                "CollectiveBcastSendV2", "CollectiveBcastRecvV2", "CollectiveReduceScatterV2",
                                "CollectiveAllToAllV2"};

// Defines the kernel for int32 data, or for all other types. int32 data are in host memory, like keys, sizes and
// handles.
std::unique_ptr<tensorflow::KernelDef> Definition(const tensorflow::OpDef& op, bool int32) {
  tensorflow::KernelDefBuilder builder(op.name().c_str());
  builder.Device(kDeviceType);
  for (const auto& attribute : op.attr()) {
    if (attribute.name() != "T") continue;
    std::vector<tensorflow::DataType> types;
    for (const int type : attribute.allowed_values().list().type()) {
      if ((type == tensorflow::DT_INT32) == int32) types.push_back(static_cast<tensorflow::DataType>(type));
    }
    builder.TypeConstraint("T", types);
  }
  const auto add = [&](const tensorflow::OpDef::ArgDef& argument) {
    if (argument.type_attr() != "T" || int32) builder.HostMemory(argument.name().c_str());
  };
  for (const auto& argument : op.input_arg()) add(argument);
  for (const auto& argument : op.output_arg()) add(argument);
  return std::unique_ptr<tensorflow::KernelDef>(const_cast<tensorflow::KernelDef*>(builder.Build()));
}

bool RegisterAll() {
  static auto* registrars = new std::vector<std::unique_ptr<tensorflow::kernel_factory::OpKernelRegistrar>>;
  for (const char* name : kOps) {
    const tensorflow::OpDef* op = nullptr;
    TF_CHECK_OK(tensorflow::OpRegistry::Global()->LookUpOpDef(name, &op));
    for (const bool int32 : {false, true}) {
      registrars->push_back(std::make_unique<tensorflow::kernel_factory::OpKernelRegistrar>(
          Definition(*op, int32).release(), "HpuCollectiveKernel", std::make_unique<CollectiveKernelFactory>()));
    }
  }
  return true;
}

[[maybe_unused]] const bool collectives_registered = RegisterAll();

REGISTER_KERNEL_BUILDER(Name("HpuCollectiveStart").Device(kDeviceType).HostMemory("staged"), StartKernel);

}  // namespace
}  // namespace hpu
