#include "plugin/tensorflow/kernels/eager/kernel_registration.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "plugin/tensorflow/kernels/eager/eager_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {
namespace {

using tensorflow::DataType;
using tensorflow::KernelDef;
using tensorflow::OpDef;

class EagerKernelFactory : public tensorflow::kernel_factory::OpKernelFactory {
 public:
  tensorflow::OpKernel* Create(tensorflow::OpKernelConstruction* construction) override {
    return new EagerKernel(construction);
  }
};

}  // namespace

std::vector<const OpDef::AttrDef*> TypeAttributes(const OpDef& op) {
  std::vector<const OpDef::AttrDef*> attributes;
  for (const auto& attribute : op.attr()) {
    if (attribute.type() != "type") continue;
    const auto uses = [&](const auto& argument) { return argument.type_attr() == attribute.name(); };
    if (absl::c_any_of(op.input_arg(), uses) || absl::c_any_of(op.output_arg(), uses)) attributes.push_back(&attribute);
  }
  return attributes;
}

std::vector<DataType> AllowedTypes(const KernelDef& kernel, const OpDef::AttrDef& attribute) {
  std::vector<DataType> types;
  for (const auto& constraint : kernel.constraint()) {
    if (constraint.name() != attribute.name()) continue;
    for (int type : constraint.allowed_values().list().type()) types.push_back(static_cast<DataType>(type));
    return types;
  }
  if (attribute.has_allowed_values()) {
    for (int type : attribute.allowed_values().list().type()) types.push_back(static_cast<DataType>(type));
    return types;
  }
  types.assign(tensorflow::kCpuAllTypes.begin(), tensorflow::kCpuAllTypes.end());
  return types;
}

void Constrain(KernelDef* kernel, const std::string& attribute, const std::vector<DataType>& types) {
  KernelDef::AttrConstraint* found = nullptr;
  for (auto& constraint : *kernel->mutable_constraint()) {
    if (constraint.name() == attribute) found = &constraint;
  }
  if (found == nullptr) {
    found = kernel->add_constraint();
    found->set_name(attribute);
  }
  auto* list = found->mutable_allowed_values()->mutable_list();
  list->clear_type();
  for (DataType type : types) list->add_type(type);
}

void SetHostMemory(const OpDef& op, const std::set<std::string>& int32_attributes, KernelDef* kernel) {
  kernel->clear_host_memory_arg();
  const auto* constants = tensorflow::XlaOpRegistry::CompileTimeConstantInputArgNames(op.name());
  const auto add = [&](const OpDef::ArgDef& argument, bool constant) {
    if (constant || argument.type() == tensorflow::DT_INT32 || argument.type() == tensorflow::DT_RESOURCE ||
        int32_attributes.count(argument.type_attr()) > 0) {
      kernel->add_host_memory_arg(argument.name());
    }
  };
  for (const auto& argument : op.input_arg())
    add(argument, constants != nullptr && constants->count(argument.name()) > 0);
  for (const auto& argument : op.output_arg()) add(argument, false);
}

void RegisterEagerKernel(std::unique_ptr<KernelDef> kernel) {
  // TensorFlow's registry owns the definition.
  static auto* registrars = new std::vector<std::unique_ptr<tensorflow::kernel_factory::OpKernelRegistrar>>;
  registrars->push_back(std::make_unique<tensorflow::kernel_factory::OpKernelRegistrar>(
      kernel.release(), "HpuEagerKernel", std::make_unique<EagerKernelFactory>()));
}

}  // namespace hpu
