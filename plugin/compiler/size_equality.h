// Proof that sizes of dynamic dimensions are equal.
#ifndef HPU_PLUGIN_COMPILER_SIZE_EQUALITY_H_
#define HPU_PLUGIN_COMPILER_SIZE_EQUALITY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hpu {

// Fails with INVALID_ARGUMENT unless `predicate`, a scalar, is true for all sizes. Evaluates the integer arithmetic
// that computes `predicate`. The values on which that arithmetic depends are arbitrary sizes up to `bound`: all
// combinations are evaluated, or a sample if there are many.
absl::Status ProveSizesEqual(const xla::HloInstruction& predicate, int64_t bound);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_SIZE_EQUALITY_H_
