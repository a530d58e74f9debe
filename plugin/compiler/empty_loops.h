// Removal of loops that never run.
#ifndef HPU_PLUGIN_COMPILER_EMPTY_LOOPS_H_
#define HPU_PLUGIN_COMPILER_EMPTY_LOOPS_H_

#include "xla/service/hlo.pb.h"

namespace hpu {

// Replaces each loop by its first values if its condition, a comparison of constant integers, is false for them. Newer
// releases of XLA run such a loop once if its counter starts beyond the end by less than a step. `module` has the ids
// of RenumberIds.
void RemoveEmptyLoops(xla::HloModuleProto* module);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_EMPTY_LOOPS_H_
