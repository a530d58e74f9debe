// Composites: marked calls (plugin/program/marked_call.h) that kernels of the card compute.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_COMPOSITES_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_COMPOSITES_H_

#include "absl/status/status.h"
#include "plugin/backends/gaudi/plan/plan_builder.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::gaudi {

// Replaces marked calls by custom calls, which are lowered to the target's kernels. A call stays, and is inlined later,
// if its kernels are not usable (usable_guid.h), or do not support its types or shapes. Random calls are replaced even
// then, and their lowering fails, because the program requests the card's numbers.
absl::Status ReplaceComposites(xla::HloModule* module, const PlanTarget& target);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_COMPOSITES_H_
