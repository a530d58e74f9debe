// Encapsulation: moves each cluster into a function, with one HabanaLaunch in its place.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_ENCAPSULATION_PASS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_ENCAPSULATION_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Moves the nodes of each cluster (kClusterAttr) into a library function that has the cluster's name. A HabanaLaunch of
// the same name, on the same device, replaces the nodes and inherits all edges that crossed the border, including
// control edges. Arguments are ordered: compile-time constants first, resources last. int32 arguments and results,
// constants and the state of random ops stay in host memory (_input_hostmem, _output_hostmem).
absl::Status EncapsulateClusters(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_ENCAPSULATION_PASS_H_
