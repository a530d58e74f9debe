// Unrolling of loops whose number of iterations is known.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_LOOP_UNROLLING_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_LOOP_UNROLLING_H_

#include <cstdint>

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::gaudi {

// Synapse graphs have no control flow, so each iteration becomes a copy of the body. Replaces each while with a known
// number of iterations that have at most `max_instructions` instructions in total, inner loops first.
absl::Status UnrollLoops(xla::HloModule* module, int64_t max_instructions);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_LOOP_UNROLLING_H_
