// Composites: marked calls (plugin/program/marked_call.h) that kernels of the card compute.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_COMPOSITES_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_COMPOSITES_H_

#include "absl/status/status.h"
#include "plugin/backends/gaudi/plan/plan_builder.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::gaudi {

// Replaces the marked calls that kernels of the target compute by custom calls, which lowerings.h lowers. A call stays,
// so that it is inlined, if its kernels are not usable (usable_guid.h), or do not take its types or shapes. Random
// calls are replaced even then, and their lowering fails: a program asks for the card's numbers.
absl::Status ReplaceComposites(xla::HloModule* module, const PlanTarget& target);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_COMPOSITES_H_
