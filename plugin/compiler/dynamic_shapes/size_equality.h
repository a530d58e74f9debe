// Proofs about the sizes of dynamic dimensions: equal sizes, and sizes within their bounds.
#ifndef HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_SIZE_EQUALITY_H_
#define HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_SIZE_EQUALITY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "plugin/compiler/dynamic_shapes/size_sources.h"
#include "plugin/compiler/dynamic_shapes/size_symbols.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hpu {

// Fails with INVALID_ARGUMENT unless `predicate`, a scalar, is true for all sizes. Evaluates the integer arithmetic
// that computes `predicate` (size_arithmetic.h). The arithmetic may read the symbols, whose values are in their ranges,
// and other sizes up to `bound`: all combinations are evaluated, or a sample if there are many.
absl::Status ProveSizesEqual(const xla::HloInstruction& predicate, int64_t bound, const SizeParameter& symbols,
                             SizeSources* sources);

// Fails with UNIMPLEMENTED if `predicate`, a scalar, is false for values of the symbols. Returns OK if the predicate
// depends on anything else. Also fails for more than 2048 combinations of values.
absl::Status CheckForSymbols(const xla::HloInstruction& predicate, const SizeParameter& symbols, SizeSources* sources);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_SIZE_EQUALITY_H_
