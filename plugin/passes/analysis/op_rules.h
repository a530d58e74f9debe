// Rules for ops that clusters must not contain, even if XLA could compile them. docs/developer/pamsen.md explains each
// rule.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_OP_RULES_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_OP_RULES_H_

#include <optional>
#include <string>

#include "plugin/base/rules/rules.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

struct OpRefusal {
  Rule rule;
  std::string reason;
};

// The rule that excludes a node from clusters, by its op and types alone. nullopt does not mean that the node can be
// compiled. Applies to nodes of a graph, and of functions that are called inside a cluster.
std::optional<OpRefusal> RefuseByOp(const tensorflow::Node& node);

// Whether a result contains only values of its op's input 0.
bool KeepsValues(const tensorflow::OutputTensor& tensor);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_OP_RULES_H_
