// KernelArguments: the inputs of one kernel execution, as arguments of a recipe.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_KERNEL_ARGUMENTS_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_KERNEL_ARGUMENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "plugin/compiler/lowering.h"
#include "plugin/recipes/signature.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_var.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/refcount.h"

namespace hpu {

// Kind of each input for the compiler. Fixed for a kernel.
using ArgumentKinds = std::vector<ArgumentDescription::Kind>;

// The signature of described arguments; equal to KernelArguments::Sign.
recipes::Signature SignatureOf(const std::vector<ArgumentDescription>& arguments);

// Lives on the stack of Compute. The kinds and the context must outlive the object. Not thread safe.
class KernelArguments {
 public:
  KernelArguments(tensorflow::OpKernelContext* context, const ArgumentKinds& kinds)
      : context_(context), kinds_(kinds), variables_(kinds.size()) {}
  ~KernelArguments() { Unlock(); }
  KernelArguments(const KernelArguments&) = delete;
  KernelArguments& operator=(const KernelArguments&) = delete;

  // Looks up the variables. Creates missing variables without a value. FailedPrecondition if an input is a resource of
  // another kind.
  absl::Status FindVariables();
  // Names of the variables without a value; empty if every variable has a value. Requires Lock().
  std::vector<std::string> UninitializedVariables() const;

  // Locks all variables in the order of their addresses, so that launches with common variables cannot deadlock.
  void Lock();
  void Unlock();

  // AppendSignature and Describe require Lock().
  void AppendSignature(recipes::Signature* signature) const;
  std::vector<ArgumentDescription> Describe() const;
  // The array of input `i`: the input itself, or the value of the variable that the input names.
  const tensorflow::Tensor& value(int i) const { return variables_[i] ? *variables_[i]->tensor() : context_->input(i); }

  tensorflow::Var* variable(int i) const { return variables_[i].get(); }
  int size() const { return static_cast<int>(kinds_.size()); }

 private:
  // The first argument with the variable of argument `i`, or -1 if argument `i` is the first.
  int SameVariable(int i) const;

  tensorflow::OpKernelContext* const context_;
  const ArgumentKinds& kinds_;
  absl::InlinedVector<tensorflow::core::RefCountPtr<tensorflow::Var>, 8> variables_;  // null for other inputs
  absl::InlinedVector<tensorflow::Var*, 8> lock_order_;                               // sorted, without duplicates
  bool duplicates_ = false;  // whether a variable is passed twice
  bool locked_ = false;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_KERNEL_ARGUMENTS_H_
