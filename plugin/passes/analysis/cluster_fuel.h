// Limit on the number of clusters in a process (HPU_CLUSTER_FUEL).
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_CLUSTER_FUEL_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_CLUSTER_FUEL_H_

#include "plugin/passes/graph/settings.h"

namespace hpu::passes {

// Whether the limit allows another cluster. Thread safe.
bool HasFuel(const Settings& settings);

// Counts a new cluster. Returns false if the cluster exceeds the limit. Thread safe.
bool ConsumeFuel(const Settings& settings);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_CLUSTER_FUEL_H_
