// Sizes of TensorLists that a loop fills.
#ifndef HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_LIST_SIZES_H_
#define HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_LIST_SIZES_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu {

// tf2xla starts a loop with lists of size 0 if only the loop's body knows the shape of the elements. Gives each list
// the sizes that it has after the loop's first turn, so that the loop keeps them. Elements that no turn writes are
// zeros then. `module` has no calls.
absl::Status SetFirstListSizes(xla::HloModule* module);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_LIST_SIZES_H_
