// Rotation of loops: the condition becomes a predicate in the loop's state.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_LOOP_ROTATION_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_LOOP_ROTATION_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::gaudi {

// Computes the condition of each while before the loop, and at the end of the body for the next iteration. The last
// element of the new state is the predicate, and the new condition returns it. So a graph of the body also computes the
// predicate, and an iteration without inner loops is one launch. Does not change loops whose state is not a tuple.
absl::Status RotateLoops(xla::HloModule* module);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_LOOP_ROTATION_H_
