// Selection of the nodes that a configuration converts to bfloat16.
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
  std::string list;  // the list that converts it, by its key in the JSON file
};

// The nodes to convert, by id, among nodes for which `concerned` is true. Two nodes are neighbours if a tensor between
// them would be bfloat16 after converting both. Conditional lists are a fixed point: the smallest set that the lists
// allow. Linear in the size of the graph.
std::vector<Bf16Conversion> AssignBf16(const tensorflow::Graph& graph, const Bf16Config& config,
                                       const std::function<bool(const tensorflow::Node&)>& concerned);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PRECISION_BF16_ASSIGNMENT_H_
