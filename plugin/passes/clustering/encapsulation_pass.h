// Encapsulation: each cluster becomes a function and a HabanaLaunch that calls it.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_ENCAPSULATION_PASS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_ENCAPSULATION_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Moves the nodes of each cluster (kClusterAttr) into a function of that name in the library and puts a HabanaLaunch of
// that name, assigned to their device, in their place; every edge that crossed the border, control edges too, now ends
// at the launch. Arguments come in the order compile-time constants, others, resources. int32 arguments and results,
// constants and the state of random ops stay in host memory (_input_hostmem, _output_hostmem).
absl::Status EncapsulateClusters(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_ENCAPSULATION_PASS_H_
