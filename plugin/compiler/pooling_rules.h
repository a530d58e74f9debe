// Argument checks for pooling ops and their gradients: windows and operand shapes.
#ifndef HPU_PLUGIN_COMPILER_POOLING_RULES_H_
#define HPU_PLUGIN_COMPILER_POOLING_RULES_H_

#include "absl/status/status.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {

absl::Status CheckPooling(const tensorflow::OpKernel& kernel, tensorflow::XlaOpKernelContext* context);

// Max pooling gradients and their gradients. Operands: orig_input, orig_output, grad.
absl::Status CheckMaxPoolingGradient(const tensorflow::OpKernel& kernel, tensorflow::XlaOpKernelContext* context);
absl::Status CheckMaxPoolingSecondGradient(const tensorflow::OpKernel& kernel, tensorflow::XlaOpKernelContext* context);

// Average pooling gradients. Operands: orig_input_shape, grad.
absl::Status CheckAveragePoolingGradient(const tensorflow::OpKernel& kernel, tensorflow::XlaOpKernelContext* context);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_POOLING_RULES_H_
