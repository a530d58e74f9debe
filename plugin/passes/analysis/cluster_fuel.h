// The number of clusters that this process may still make (HPU_CLUSTER_FUEL).
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_CLUSTER_FUEL_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_CLUSTER_FUEL_H_

#include "plugin/passes/graph/settings.h"

namespace hpu::passes {

// Whether another cluster may be made. Thread safe.
bool HasFuel(const Settings& settings);

// Counts a cluster; false if it exceeds the bound. Thread safe.
bool TakeFuel(const Settings& settings);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_CLUSTER_FUEL_H_
