#include "plugin/tensorflow/kernels/kernel_arguments.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/resource_mgr.h"

namespace hpu {

using Kind = ArgumentDescription::Kind;
using tensorflow::Var;

absl::Status KernelArguments::FindVariables() {
  for (int i = 0; i < size(); ++i) {
    if (kinds_[i] != Kind::kVariable) continue;
    const tensorflow::ResourceHandle& handle = tensorflow::HandleFromInput(context_, i);
    absl::Status status = tensorflow::LookupOrCreateResource<Var>(context_, handle, &variables_[i], [](Var** created) {
      *created = new Var(tensorflow::DT_INVALID);
      return absl::OkStatus();
    });
    if (!status.ok()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "input ", i, " of ", context_->op_kernel().name(), " (", handle.name(), ", a ", handle.maybe_type_name(),
          ") is not a variable on this device; create the variable on this device: ", status.message()));
    }
    lock_order_.push_back(variables_[i].get());
  }
  std::sort(lock_order_.begin(), lock_order_.end());
  const auto end = std::unique(lock_order_.begin(), lock_order_.end());
  duplicates_ = end != lock_order_.end();
  lock_order_.erase(end, lock_order_.end());
  return absl::OkStatus();
}

int KernelArguments::SameVariable(int i) const {
  if (!duplicates_ || variables_[i] == nullptr) return -1;
  for (int first = 0; first < i; ++first) {
    if (variables_[first].get() == variables_[i].get()) return first;
  }
  return -1;
}

std::vector<std::string> KernelArguments::UninitializedVariables() const {
  std::vector<std::string> names;
  for (int i = 0; i < size(); ++i) {
    if (variables_[i] == nullptr || variables_[i]->is_initialized) continue;
    names.push_back(tensorflow::HandleFromInput(context_, i).name());
  }
  return names;
}

void KernelArguments::Lock() {
  if (locked_) return;
  for (Var* variable : lock_order_) variable->mu()->lock();
  locked_ = true;
}

void KernelArguments::Unlock() {
  if (!locked_) return;
  for (Var* variable : lock_order_) variable->mu()->unlock();
  locked_ = false;
}

void KernelArguments::AppendSignature(recipes::Signature* signature) const {
  for (int i = 0; i < size(); ++i) {
    switch (kinds_[i]) {
      case Kind::kConstant:
        signature->AddConstant(context_->input(i));
        break;
      case Kind::kParameter:
        signature->AddParameter(context_->input(i).dtype(), context_->input(i).shape());
        break;
      case Kind::kVariable:
        if (const int first = SameVariable(i); first >= 0) {
          signature->AddSameVariable(first);
        } else if (variables_[i]->is_initialized) {
          signature->AddVariable(value(i).dtype(), value(i).shape());
        } else {
          signature->AddUninitializedVariable();
        }
        break;
    }
  }
}

std::vector<ArgumentDescription> KernelArguments::Describe() const {
  std::vector<ArgumentDescription> descriptions(size());
  for (int i = 0; i < size(); ++i) {
    ArgumentDescription& description = descriptions[i];
    description.kind = kinds_[i];
    description.dtype = value(i).dtype();
    description.shape = value(i).shape();
    if (kinds_[i] == Kind::kConstant) description.constant = context_->input(i);
    if (kinds_[i] != Kind::kVariable) continue;
    description.initialized = variables_[i]->is_initialized;
    description.same_as = SameVariable(i);
  }
  return descriptions;
}

recipes::Signature SignatureOf(const std::vector<ArgumentDescription>& arguments) {
  recipes::Signature signature;
  for (const ArgumentDescription& argument : arguments) {
    switch (argument.kind) {
      case Kind::kConstant:
        signature.AddConstant(argument.constant);
        break;
      case Kind::kParameter:
        signature.AddParameter(argument.dtype, argument.shape);
        break;
      case Kind::kVariable:
        if (argument.same_as >= 0) {
          signature.AddSameVariable(argument.same_as);
        } else if (argument.initialized) {
          signature.AddVariable(argument.dtype, argument.shape);
        } else {
          signature.AddUninitializedVariable();
        }
        break;
    }
  }
  return signature;
}

}  // namespace hpu
