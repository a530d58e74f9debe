// Argument checks for errors that CPU kernels report and shape functions do not.
#ifndef HPU_PLUGIN_COMPILER_ARGUMENT_RULES_H_
#define HPU_PLUGIN_COMPILER_ARGUMENT_RULES_H_

#include <string>

#include "absl/status/status.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {

// The CPU kernel's error for the op's shapes, attributes and compile-time constants; OK for ops without a rule.
absl::Status CheckArguments(const tensorflow::OpKernel& kernel, tensorflow::XlaOpKernelContext* context);

// Whether an op sums products over windows: convolutions, and gradients of convolutions and pooling. With an empty
// operand its results are zero. In this case lowerings of tf2xla divide by sizes or lose shapes, and CPU kernels leave
// the results unset or end the process.
bool SumsOverWindows(const std::string& op);

// True for an op that sums over windows and has an empty operand, and for the gradient of an empty batch normalization.
bool IsSumOfNothing(const tensorflow::OpKernel& kernel, tensorflow::XlaOpKernelContext* context);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_ARGUMENT_RULES_H_
