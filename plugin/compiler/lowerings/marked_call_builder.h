// Builder of marked calls (plugin/program/marked_call.h).
#ifndef HPU_PLUGIN_COMPILER_LOWERINGS_MARKED_CALL_BUILDER_H_
#define HPU_PLUGIN_COMPILER_LOWERINGS_MARKED_CALL_BUILDER_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu {

// Adds a call of the computation that `body` builds, and marks the call as `operation`. The computation's parameters
// have the shapes of the operands. Requires at least one operand. Several results form a tuple.
absl::StatusOr<xla::XlaOp> MarkedCall(const char* operation, const std::string& attributes,
                                      const std::vector<xla::XlaOp>& operands,
                                      absl::FunctionRef<xla::XlaOp(const std::vector<xla::XlaOp>&)> body);

// Whether an op may be a marked call of `operation`: the process's backend wants the mark, and all inputs have
// dimensions and elements. Other backends get plain instructions, which passes of the emulator recognise. Marked calls
// have no empty operands, and kernels take no scalars.
bool CanMark(const char* operation, tensorflow::XlaOpKernelContext* context);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_LOWERINGS_MARKED_CALL_BUILDER_H_
