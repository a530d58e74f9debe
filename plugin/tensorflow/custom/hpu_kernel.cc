#include "plugin/include/habanalabs/hpu_kernel.h"

#include "absl/algorithm/container.h"
#include "plugin/passes/analysis/custom_ops.h"
#include "plugin/tensorflow/custom/lowering_kernel.h"
#include "plugin/tensorflow/device/hpu_device.h"
#include "plugin/tensorflow/kernels/eager/eager_kernel.h"
#include "tensorflow/core/framework/device_base.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/platform/logging.h"

namespace habana {
inline namespace v1 {

using tensorflow::KernelDef;

HpuKernelBase::HpuKernelBase(tensorflow::OpKernelConstruction* construction) : OpKernel(construction) {
  if (construction->device()->attributes().device_type() == hpu::kDeviceType) {
    runner_ = std::make_unique<hpu::EagerKernel>(construction);
  }
}

HpuKernelBase::~HpuKernelBase() = default;

void HpuKernelBase::Compute(tensorflow::OpKernelContext* context) {
  OP_REQUIRES(
      context, runner_ != nullptr,
      absl::InternalError(type_string() +
                          ": the kernel was created for the compiler and cannot be executed; place the op on an HPU"));
  runner_->Compute(context);
}

HpuKernelDefBuilder::HpuKernelDefBuilder(const char* op) : definition_(std::make_unique<KernelDef>()) {
  definition_->set_op(op);
  definition_->set_device_type(hpu::kDeviceType);
}

HpuKernelDefBuilder::HpuKernelDefBuilder(HpuKernelDefBuilder&&) noexcept = default;
HpuKernelDefBuilder::~HpuKernelDefBuilder() = default;

HpuKernelDefBuilder& HpuKernelDefBuilder::TypeConstraint(const char* attribute, tensorflow::DataType allowed) {
  return TypeConstraint(attribute, tensorflow::gtl::ArraySlice<tensorflow::DataType>(&allowed, 1));
}

HpuKernelDefBuilder& HpuKernelDefBuilder::TypeConstraint(const char* attribute,
                                                         tensorflow::gtl::ArraySlice<tensorflow::DataType> allowed) {
  if (allowed.size() > 1 && absl::c_linear_search(allowed, tensorflow::DT_INT32)) {
    // Crash OK: a bug in the user's library
    LOG(FATAL) << "ForHpuWithName(" << definition_->op() << "): the type constraint on " << attribute
               << " lists int32 with other types; register int32 separately, because int32 tensors are in host memory";
  }
  KernelDef::AttrConstraint* constraint = definition_->add_constraint();
  constraint->set_name(attribute);
  for (const tensorflow::DataType type : allowed) {
    constraint->mutable_allowed_values()->mutable_list()->add_type(type);
  }
  return *this;
}

HpuKernelDefBuilder& HpuKernelDefBuilder::HostMemory(const char* argument) {
  definition_->add_host_memory_arg(argument);
  return *this;
}

HpuKernelDefBuilder& HpuKernelDefBuilder::Priority(int32_t priority) {
  definition_->set_priority(priority);
  return *this;
}

namespace {

// Declares host memory for arguments that are always int32. Such an argument has the declared type int32, or a
// constraint that allows only int32.
void KeepInt32OnHost(KernelDef* kernel) {
  const tensorflow::OpDef* op = nullptr;
  if (!tensorflow::OpRegistry::Global()->LookUpOpDef(kernel->op(), &op).ok()) return;
  const auto is_int32 = [&](const tensorflow::OpDef::ArgDef& argument) {
    return argument.type() == tensorflow::DT_INT32 ||
           absl::c_any_of(kernel->constraint(), [&](const KernelDef::AttrConstraint& constraint) {
             const auto& types = constraint.allowed_values().list().type();
             return constraint.name() == argument.type_attr() && types.size() == 1 && types[0] == tensorflow::DT_INT32;
           });
  };
  const auto keep = [&](const tensorflow::OpDef::ArgDef& argument) {
    if (is_int32(argument) && !absl::c_linear_search(kernel->host_memory_arg(), argument.name())) {
      kernel->add_host_memory_arg(argument.name());
    }
  };
  absl::c_for_each(op->input_arg(), keep);
  absl::c_for_each(op->output_arg(), keep);
}

}  // namespace

const KernelDef* HpuKernelDefBuilder::Build() {
  hpu::RegisterCustomLowering(*definition_);
  hpu::passes::AddCustomOp(definition_->op());
  KeepInt32OnHost(definition_.get());
  return definition_.release();
}

}  // namespace v1
}  // namespace habana
