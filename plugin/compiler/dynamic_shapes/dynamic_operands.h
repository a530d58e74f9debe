// Check of the operands of a lowering for dynamic sizes, whose bounds the lowering might take for the sizes.
#ifndef HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_DYNAMIC_OPERANDS_H_
#define HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_DYNAMIC_OPERANDS_H_

#include <vector>

#include "absl/status/status.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {

// Fails with UNIMPLEMENTED if an operand has a dynamic dimension, or if a compile-time constant depends on a dynamic
// size. Returns OK for dimensions with which the op's lowering is known to compute right (DynamicSizes in op_facts.h).
// `constants` are the indices of the compile-time constants among the inputs.
absl::Status CheckDynamicOperands(const tensorflow::OpKernel& kernel, const std::vector<int>& constants,
                                  tensorflow::XlaOpKernelContext* context);

// Whether an array among the operands has a dynamic dimension, and no compile-time constant depends on a dynamic size.
bool HasDynamicArrays(const std::vector<int>& constants, tensorflow::XlaOpKernelContext* context);

// Runs `lowering`. For ops of the class kDraw, result 0 has the numbers of the sizes. For ops of the class kCapacity,
// input 1 is its bound. For ops of the classes
// kLikeInput, kZerosPast and kOnesPast, the lowering sees the bounds of input 0 as its sizes, and result 0 gets the
// sizes of input 0. Ops of the class kWindows with dynamic operands are lowered by LowerWindows, which may run
// `unpadded` (dynamic_windows.h).
absl::Status LowerOverBounds(tensorflow::OpKernel* lowering, tensorflow::OpKernel* unpadded,
                             tensorflow::OpKernelContext* context);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_DYNAMIC_OPERANDS_H_
