// Check of params against limits of the double's kernels, so that node creation fails instead of a launch.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_KERNEL_LIMITS_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_KERNEL_LIMITS_H_

#include <string_view>

#include "plugin/testing/synapse_double/graph/node.h"
#include "plugin/testing/synapse_double/graph/verdict.h"

namespace hpu::synapse_double {

// `stem` is the stem of the node's guid. The params must have the size of a known version.
Verdict CheckKernelLimits(const Node& node, std::string_view stem);

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_KERNEL_LIMITS_H_
