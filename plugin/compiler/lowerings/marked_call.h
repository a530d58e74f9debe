// Calls in programs that say what they compute, so that a backend may do it in its own way.
#ifndef HPU_PLUGIN_COMPILER_LOWERINGS_MARKED_CALL_H_
#define HPU_PLUGIN_COMPILER_LOWERINGS_MARKED_CALL_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "xla/client/xla_builder.h"

namespace hpu {

// A call of what `body` makes of its parameters, which are as the operands, with the frontend attribute. At least one
// operand; several results are a tuple.
absl::StatusOr<xla::XlaOp> MarkedCall(const char* attribute, const std::string& value,
                                      const std::vector<xla::XlaOp>& operands,
                                      absl::FunctionRef<xla::XlaOp(const std::vector<xla::XlaOp>&)> body);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_LOWERINGS_MARKED_CALL_H_
