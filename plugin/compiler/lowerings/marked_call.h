// Calls marked with a frontend attribute, so that a backend may compute them in its own way.
#ifndef HPU_PLUGIN_COMPILER_LOWERINGS_MARKED_CALL_H_
#define HPU_PLUGIN_COMPILER_LOWERINGS_MARKED_CALL_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "xla/client/xla_builder.h"

namespace hpu {

// Calls the computation that `body` builds from parameters shaped like the operands, with the frontend attribute. There
// is at least one operand; several results form a tuple.
absl::StatusOr<xla::XlaOp> MarkedCall(const char* attribute, const std::string& value,
                                      const std::vector<xla::XlaOp>& operands,
                                      absl::FunctionRef<xla::XlaOp(const std::vector<xla::XlaOp>&)> body);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_LOWERINGS_MARKED_CALL_H_
