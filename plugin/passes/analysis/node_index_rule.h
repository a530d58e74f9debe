// The index rule of a node.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_NODE_INDEX_RULE_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_NODE_INDEX_RULE_H_

#include <optional>

#include "plugin/checks/index_rule.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

using checks::IndexKind;
using checks::IndexRule;

// nullopt if the dimension that bounds the indices depends on a value that the graph does not show. `op`: the facts
// about the node's op.
std::optional<IndexRule> IndexRuleOf(const tensorflow::Node& node, const IndexedOp& op);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_NODE_INDEX_RULE_H_
