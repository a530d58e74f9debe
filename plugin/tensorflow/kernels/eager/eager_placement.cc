// Placement of eager ops with the rules of the graph pass (plugin/passes/placement/placement_pass.h). TensorFlow runs
// this rewrite before it executes an op. A refused op that uses a variable on the HPU stays on the HPU. The CPU kernel
// of such an op computes on copies.
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "plugin/compat/eager_ops.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/analysis/placement_policy.h"
#include "plugin/passes/reporting/report.h"
#include "plugin/tensorflow/device/hpu_device.h"
#include "plugin/tensorflow/kernels/cpu_fallback/host_elements.h"
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

bool IsOnOtherDevice(const EagerOp& op) {
  const absl::string_view device = op.device_type();
  return !device.empty() && device != kDeviceType;
}

std::optional<OpRefusal> Refuse(const EagerOp& op) {
  const std::vector<const tensorflow::Tensor*> variants = op.HostVariants();
  if (absl::c_any_of(variants, [](const tensorflow::Tensor* tensor) { return HasHostElements(*tensor); })) {
    return OpRefusal{Rule::kDtype, "a TensorList or optional input holds elements of a type that stays in host memory"};
  }
  const PlacementPolicy& policy = PlacementPolicy::Active();
  if (policy.AcceptsAllTypes(op.name())) return std::nullopt;
  if (auto refusal = policy.Refuse(op.name(), tensorflow::AttrSlice(op.node()))) return refusal;
  const int bound = policy.MaxRank(op.name());
  const int rank = bound == 0 ? 0 : op.MaxInputRank();
  if (rank <= bound) return std::nullopt;
  return OpRefusal{Rule::kRank,
                   absl::StrCat(op.name(), " has a tensor of rank ", rank, "; the maximum in the op list is ", bound)};
}

// Whether the op compares int32 tensors, which are in host memory. On the HPU, TensorFlow would copy the result to the
// device, and a program that branches on the result would wait for all work of the device. So the comparison of a
// loop's counter runs on the CPU, like small integer ops under TF_EAGER_ENABLE_SMALL_TENSOR_CPU_PINNING.
bool ComparesHostIntegers(const EagerOp& op) {
  return FactsOf(op.name()).eager == EagerPolicy::kCpuInt32 && op.HasOnlyInt32Inputs();
}

void Place(EagerOp* op) {
  if (op->is_function() || IsOnOtherDevice(*op)) return;
  if (ComparesHostIntegers(*op)) {
    op->PlaceOnCpu();
    return;
  }
  const std::optional<OpRefusal> refusal = Refuse(*op);
  if (!refusal || !tensorflow::KernelDefAvailable(tensorflow::DeviceType("CPU"), op->node())) return;
  Record(op->name(), *refusal);
  op->PlaceOnCpu();
}

[[maybe_unused]] const bool placement_registered = [] {
  RegisterEagerRewrite("PlaceUnsupportedOpsOnCpu", Place);
  return true;
}();

}  // namespace
}  // namespace hpu
