// Simplification of the arithmetic on sizes in a program.
#ifndef HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_SIZE_SIMPLIFICATION_H_
#define HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_SIZE_SIMPLIFICATION_H_

#include "absl/status/status.h"
#include "plugin/compiler/dynamic_shapes/size_symbols.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu {

// Replaces integers and booleans that are equal for all values of the symbols by one of them, or by a constant, and
// removes selects whose predicate is constant. XLA's dynamic padder prepares each elementwise operation for a size of
// 1, which would broadcast; sizes of arguments are larger, so most of this work goes.
absl::Status SimplifySizes(xla::HloModule* module, const SizeParameter& symbols);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_SIZE_SIMPLIFICATION_H_
