// TensorFlow's graph rewrites that the passes call: import, constant folding, lowering, encapsulation, fusion.
#ifndef HPU_PLUGIN_COMPAT_GRAPH_REWRITES_H_
#define HPU_PLUGIN_COMPAT_GRAPH_REWRITES_H_

// EncapsulateSubgraphsInFunctions moves the nodes of each cluster into a function. The callback gets the sources of the
// arguments and the function's graph, permutes the arguments, and adds attributes to the call.
#include "tensorflow/compiler/jit/encapsulate_subgraphs_pass.h"
// ConstantFold replaces nodes by constants. The plugin uses these options: consider, generate_new_name,
// max_constant_size_in_bytes. After an error, the graph may have changed.
#include "tensorflow/core/common_runtime/constant_folding.h"
// ConvertGraphDefToGraph builds a graph. The plugin uses these options: allow_internal_ops, expect_device_spec,
// add_default_attributes.
#include "tensorflow/core/common_runtime/graph_constructor.h"
// LowerFunctionalOpsPass replaces the loops and branches with the attribute kLowerUsingSwitchMergeAttr by Switch and
// Merge nodes. Nodes that it adds have higher ids than existing nodes.
#include "tensorflow/core/common_runtime/lower_functional_ops.h"
// grappler::OptimizeGraph runs the optimizers that a ConfigProto names on a function's graph, for a DeviceSet. The
// plugin uses "remap", which fuses ops for the CPU.
#include "tensorflow/core/common_runtime/device_set.h"
#include "tensorflow/core/grappler/optimizers/meta_optimizer.h"

#endif  // HPU_PLUGIN_COMPAT_GRAPH_REWRITES_H_
