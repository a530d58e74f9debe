// Placement of eager ops with the rules of the graph pass (plugin/passes/placement/placement_pass.h). TensorFlow runs
// this rewrite before it executes an op. A refused op that uses a variable on the HPU stays on the HPU. The CPU kernel
// of such an op computes on copies.
#include <memory>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/analysis/placement_policy.h"
#include "plugin/passes/reporting/report.h"
#include "plugin/tensorflow/device/hpu_device.h"
#include "plugin/tensorflow/kernels/cpu_fallback/host_elements.h"
#include "tensorflow/core/common_runtime/eager/context.h"
#include "tensorflow/core/common_runtime/eager/eager_op_rewrite_registry.h"
#include "tensorflow/core/common_runtime/eager/eager_operation.h"
#include "tensorflow/core/common_runtime/eager/tensor_handle.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {
namespace {

using passes::OpRefusal;
using passes::PlacementPolicy;

// Records each op and reason once, because a program calls an op thousands of times.
void Record(const std::string& op, const OpRefusal& refusal) {
  static auto* mutex = new absl::Mutex;
  static auto* seen = new absl::flat_hash_set<std::string>;
  {
    absl::MutexLock lock(mutex);
    if (!seen->insert(absl::StrCat(op, "\n", refusal.reason)).second) return;
  }
  passes::Report report;
  report.set_graph("eager");
  report.set_nodes(1);
  passes::AddRefusal(&report, op, op, refusal.rule, refusal.reason);
  passes::KeepReport(report);
}

bool IsOnOtherDevice(const tensorflow::EagerOperation& op) {
  const auto& device = op.GetDeviceParsedName();
  return device.has_type && device.type != kDeviceType;
}

std::optional<OpRefusal> RefuseRank(const PlacementPolicy& policy, const tensorflow::EagerOperation& op) {
  const int bound = policy.MaxRank(op.Name());
  if (bound == 0) return std::nullopt;
  for (tensorflow::ImmediateExecutionTensorHandle* input : op.GetInputs()) {
    int rank = 0;
    if (!input->NumDims(&rank).ok() || rank <= bound) continue;
    return OpRefusal{
        "rank", absl::StrCat(op.Name(), " has a tensor of rank ", rank, "; the maximum in the op list is ", bound)};
  }
  return std::nullopt;
}

// Whether a variant input in host memory has elements that cannot be copied to a device. Waits until variant inputs are
// ready.
bool HasHostElementInput(const tensorflow::EagerOperation& op) {
  for (tensorflow::ImmediateExecutionTensorHandle* input : op.GetInputs()) {
    if (input->DataType() != tensorflow::DT_VARIANT) continue;
    const tensorflow::TensorHandle* handle = tensorflow::TensorHandleFromInterface(input);
    if (handle->Type() != tensorflow::TensorHandle::LOCAL) continue;
    if (handle->DeviceOrHostCPU(op.EagerContext()) != op.EagerContext().HostCPU()) continue;
    const tensorflow::Tensor* variants = nullptr;
    if (handle->Tensor(&variants).ok() && HasHostElements(*variants)) return true;
  }
  return false;
}

// Whether the op compares int32 tensors, which are in host memory. On the HPU, TensorFlow would copy the result to the
// device, and a program that branches on the result would wait for all work of the device. So the comparison of a
// loop's counter runs on the CPU, like small integer ops under TF_EAGER_ENABLE_SMALL_TENSOR_CPU_PINNING.
bool ComparesHostIntegers(const tensorflow::EagerOperation& op) {
  return FactsOf(op.Name()).eager == EagerPolicy::kCpuInt32 &&
         absl::c_all_of(op.GetInputs(), [](const tensorflow::ImmediateExecutionTensorHandle* input) {
           return input->DataType() == tensorflow::DT_INT32;
         });
}

class EagerPlacement : public tensorflow::EagerOpRewrite {
 public:
  using EagerOpRewrite::EagerOpRewrite;

  tensorflow::Status Run(tensorflow::EagerOperation* op,
                         std::unique_ptr<tensorflow::EagerOperation>* replaced) override {
    if (op->is_function() || IsOnOtherDevice(*op)) return tensorflow::OkStatus();
    if (ComparesHostIntegers(*op)) {
      op->SetDevice(op->EagerContext().HostCPU());
      return tensorflow::OkStatus();
    }
    const std::optional<OpRefusal> refusal = Refuse(op);
    if (!refusal) return tensorflow::OkStatus();
    const tensorflow::NodeDef& node = op->MutableAttrs()->BuildNodeDef();
    if (!tensorflow::KernelDefAvailable(tensorflow::DeviceType("CPU"), node)) return tensorflow::OkStatus();
    Record(op->Name(), *refusal);
    op->SetDevice(op->EagerContext().HostCPU());
    return tensorflow::OkStatus();
  }

 private:
  static std::optional<OpRefusal> Refuse(tensorflow::EagerOperation* op) {
    if (HasHostElementInput(*op)) {
      return OpRefusal{"dtype", "a TensorList or optional input holds elements of a type that stays in host memory"};
    }
    const PlacementPolicy& policy = PlacementPolicy::Active();
    if (policy.AcceptsAllTypes(op->Name())) return std::nullopt;
    std::optional<OpRefusal> refusal =
        policy.Refuse(op->Name(), tensorflow::AttrSlice(op->MutableAttrs()->BuildNodeDef()));
    return refusal ? refusal : RefuseRank(policy, *op);
  }
};

[[maybe_unused]] const bool placement_registered = [] {
  constexpr int kOrdinal = 20000;  // after TensorFlow's own rewrites
  tensorflow::EagerOpRewriteRegistry::Global()->Register(
      tensorflow::EagerOpRewriteRegistry::PRE_EXECUTION, kOrdinal,
      std::make_unique<EagerPlacement>("PlaceUnsupportedOpsOnCpu", __FILE__, std::to_string(__LINE__)));
  return true;
}();

}  // namespace
}  // namespace hpu
