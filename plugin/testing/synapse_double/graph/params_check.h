// Check of a node's params: version, and zeros in the padding.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_PARAMS_CHECK_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_PARAMS_CHECK_H_

#include <vector>

#include "plugin/backends/gaudi/guids/guid_table.h"
#include "plugin/backends/gaudi/synapse/profile_enum.h"
#include "plugin/testing/synapse_double/graph/verdict.h"

namespace hpu::synapse_double {

// `profile` is the release that decides which versions exist.
Verdict CheckParams(const gaudi::Guid& guid, synapse::Profile profile, const std::vector<char>& params);

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_PARAMS_CHECK_H_
