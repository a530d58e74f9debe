// HabanaCheckIndices: checks indices in host code, because compiled code cannot raise errors. HabanaIndicesInRange on
// the host, and HabanaRevertUpdate, HabanaInnerIndices and HabanaInnerValues outside clusters.
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/status_payloads.h"
#include "plugin/checks/index_rule.h"
#include "plugin/tensorflow/device/hpu_device.h"
#include "plugin/tensorflow/kernels/eager/check_kernel.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {
namespace {

using tensorflow::Tensor;

// The error of `rule` for the inputs of a check op: indices, and sizes as int32.
absl::Status CheckInputs(const checks::IndexRule& rule, const Tensor& indices, const Tensor& sizes) {
  const auto values = sizes.flat<int32_t>();
  return checks::CheckIndices(rule, indices,
                              absl::InlinedVector<int64_t, 8>(values.data(), values.data() + values.size()));
}

// HabanaCheckIndices. Thread safe.
class NamedIndexCheck {
 public:
  absl::Status Initialize(tensorflow::OpKernelConstruction* construction) {
    const tensorflow::AttrSlice attributes(construction->def());
    HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(attributes, "node", &node_));
    HPU_ASSIGN_OR_RETURN(rule_, checks::RuleIn(attributes));
    return absl::OkStatus();
  }

  absl::Status Run(absl::Span<const Tensor> inputs) const {
    const absl::Status status = CheckInputs(rule_, inputs[0], inputs[1]);
    return status.ok() ? status : Reworded(status, absl::StrCat(status.message(), " (", node_, ")"));
  }

 private:
  checks::IndexRule rule_;
  std::string node_;
};

// Stateless except for its attributes; thread safe.
class IndicesInRangeKernel : public tensorflow::OpKernel {
 public:
  explicit IndicesInRangeKernel(tensorflow::OpKernelConstruction* construction) : OpKernel(construction) {
    const absl::StatusOr<checks::IndexRule> rule = checks::RuleIn(tensorflow::AttrSlice(construction->def()));
    OP_REQUIRES_OK(construction, rule.status());
    rule_ = *rule;
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    Tensor* passes = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &passes));
    passes->scalar<bool>()() = CheckInputs(rule_, context->input(0), context->input(1)).ok();
  }

 private:
  checks::IndexRule rule_;
};

// HabanaRevertUpdate, HabanaInnerIndices and HabanaInnerValues do nothing: on the host, an op with invalid values fails
// before the updates that depend on it.
class NoKernel : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(tensorflow::OpKernelContext*) override {}
  bool IsExpensive() override { return false; }
};

REGISTER_KERNEL_BUILDER(Name("HabanaCheckIndices").Device(tensorflow::DEVICE_CPU), HostCheckKernel<NamedIndexCheck>);
REGISTER_KERNEL_BUILDER(
    Name("HabanaCheckIndices").Device(kDeviceType).HostMemory("shape").TypeConstraint<int16_t>("Tindices"),
    DeviceCheckKernel<NamedIndexCheck>);
// Launches return int32 in host memory.
REGISTER_KERNEL_BUILDER(Name("HabanaCheckIndices")
                            .Device(kDeviceType)
                            .HostMemory("indices")
                            .HostMemory("shape")
                            .TypeConstraint<int32_t>("Tindices"),
                        DeviceCheckKernel<NamedIndexCheck>);
REGISTER_KERNEL_BUILDER(
    Name("HabanaCheckIndices").Device(kDeviceType).HostMemory("shape").TypeConstraint<int64_t>("Tindices"),
    DeviceCheckKernel<NamedIndexCheck>);
REGISTER_KERNEL_BUILDER(Name("HabanaIndicesInRange").Device(tensorflow::DEVICE_CPU), IndicesInRangeKernel);
REGISTER_KERNEL_BUILDER(Name("HabanaRevertUpdate").Device(tensorflow::DEVICE_CPU), NoKernel);
REGISTER_KERNEL_BUILDER(Name("HabanaInnerIndices").Device(tensorflow::DEVICE_CPU), NoKernel);
REGISTER_KERNEL_BUILDER(Name("HabanaInnerValues").Device(tensorflow::DEVICE_CPU), NoKernel);

}  // namespace
}  // namespace hpu
