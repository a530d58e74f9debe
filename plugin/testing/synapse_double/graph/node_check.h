// Checks of one node: guid, counts, types and ranks of its operands, params, shapes.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_NODE_CHECK_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_NODE_CHECK_H_

#include "plugin/backends/gaudi/guids/guid_table.h"
#include "plugin/backends/gaudi/synapse/generation.h"
#include "plugin/backends/gaudi/synapse/profile_enum.h"
#include "plugin/testing/synapse_double/graph/node.h"
#include "plugin/testing/synapse_double/graph/verdict.h"

namespace hpu::synapse_double {

// Settings of a graph that decide which nodes it accepts.
struct NodeContext {
  synapse::Generation generation;
  synapse::Profile profile;
  bool is_inference = false;
  bool complex_guids = true;    // guids of the complex-guid library exist
  bool unproven_guids = false;  // unproven guids are allowed; unknown operands and results are not checked
};

// Resolves a guid (rules 8 and 9).
Verdict ResolveGuid(const std::string& name, const NodeContext& context, gaudi::GuidMatch* match);

// Checks a node whose tensors have complete properties.
Verdict CheckNode(const Node& node, const NodeContext& context);

// Checks that layouts of a node's operands or results are the natural layouts of their slots. `layouts` is null, or an
// array of `count` names that may be null.
Verdict CheckLayouts(const Node& node, const char** layouts, size_t count, bool are_results);

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_NODE_CHECK_H_
