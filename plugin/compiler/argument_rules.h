// Argument checks for errors that CPU kernels report and shape functions do not.
#ifndef HPU_PLUGIN_COMPILER_ARGUMENT_RULES_H_
#define HPU_PLUGIN_COMPILER_ARGUMENT_RULES_H_

#include <string>

#include "absl/status/status.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {

// Checks the op's shapes, attributes and compile-time constants like its CPU kernel. Returns OK for ops without a rule.
absl::Status CheckArguments(const tensorflow::OpKernel& kernel, tensorflow::XlaOpKernelContext* context);

// Whether the op's result is 0 because an operand is empty: for ops that sum over windows, and for the gradient of
// batch normalization.
bool IsEmptySum(const tensorflow::OpKernel& kernel, tensorflow::XlaOpKernelContext* context);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_ARGUMENT_RULES_H_
