// Selection of the nodes to convert to bfloat16.
#ifndef HPU_PLUGIN_PASSES_PRECISION_BF16_ASSIGNMENT_H_
#define HPU_PLUGIN_PASSES_PRECISION_BF16_ASSIGNMENT_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plugin/passes/precision/bf16_config.h"
#include "plugin/passes/precision/bf16_types.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

struct Bf16Conversion {
  tensorflow::Node* node;
  Bf16Types types;
  std::string list;  // JSON key of the list that converts the node
};

// The nodes to convert, by id, among the nodes that `filter` accepts. Two nodes are neighbours if a tensor
// between them would be bfloat16 after converting both. Converts a node on the conditional list if any neighbour is
// converted. Converts a node on the strict conditional list if all its inputs, except constants and variables, are
// bfloat16. Repeats until a fixed point. The run time is linear in the size of the graph.
std::vector<Bf16Conversion> AssignBf16(const tensorflow::Graph& graph, const Bf16Config& config,
                                       const std::function<bool(const tensorflow::Node&)>& filter);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PRECISION_BF16_ASSIGNMENT_H_
