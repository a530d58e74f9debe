// Predicate for functional loops and branches: While, If and Case.
#ifndef HPU_PLUGIN_PASSES_FUNCTIONS_FUNCTIONAL_CONTROL_FLOW_H_
#define HPU_PLUGIN_PASSES_FUNCTIONS_FUNCTIONAL_CONTROL_FLOW_H_

#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

inline bool IsFunctionalControlFlow(const tensorflow::Node& node) {
  return node.IsWhileNode() || node.IsIfNode() || node.IsCaseNode();
}

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_FUNCTIONS_FUNCTIONAL_CONTROL_FLOW_H_
