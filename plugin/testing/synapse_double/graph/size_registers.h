// Check that the size registers of a device's engines can hold a node's tensors (rule 17).
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_SIZE_REGISTERS_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_SIZE_REGISTERS_H_

#include "plugin/backends/gaudi/synapse/generation.h"
#include "plugin/testing/synapse_double/graph/node.h"
#include "plugin/testing/synapse_double/graph/verdict.h"

namespace hpu::synapse_double {

Verdict CheckSizeRegisters(const Node& node, synapse::Generation generation);

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_SIZE_REGISTERS_H_
