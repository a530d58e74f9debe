// Argument checks for errors that CPU kernels report and shape functions do not.
#ifndef HPU_PLUGIN_COMPILER_ARGUMENT_RULES_H_
#define HPU_PLUGIN_COMPILER_ARGUMENT_RULES_H_

#include <vector>

#include "absl/status/status.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor_shape.h"

namespace hpu {

// Checks the ranks that the op's shape function or lowering requires. Other ranks would crash it.
absl::Status CheckRanks(const tensorflow::OpKernel& kernel, tensorflow::XlaOpKernelContext* context);

// Checks the op's shapes, attributes and compile-time constants like its CPU kernel. Returns OK for ops without a rule.
absl::Status CheckArguments(const tensorflow::OpKernel& kernel, tensorflow::XlaOpKernelContext* context);

// Whether the op's result is 0 or has no elements because an operand or the result is empty: for ops that sum over
// windows, and for the gradient of batch normalization. `results`: the shapes of the results.
bool IsEmptySum(const tensorflow::OpKernel& kernel, const std::vector<tensorflow::PartialTensorShape>& results,
                tensorflow::XlaOpKernelContext* context);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_ARGUMENT_RULES_H_
