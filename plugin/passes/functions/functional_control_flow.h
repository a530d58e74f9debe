// Predicate for functional loops and branches: While, If and Case.
#ifndef HPU_PLUGIN_PASSES_FUNCTIONS_FUNCTIONAL_CONTROL_FLOW_H_
#define HPU_PLUGIN_PASSES_FUNCTIONS_FUNCTIONAL_CONTROL_FLOW_H_

#include <string>

#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// bool: TensorFlow would lower the node to version 1 control flow, which requires a bool scalar as condition.
// Functional nodes accept conditions of all types and shapes.
inline constexpr char kScalarConditionAttr[] = "_habana_scalar_condition";

inline bool IsFunctionalControlFlow(const tensorflow::Node& node) {
  return node.IsWhileNode() || node.IsIfNode() || node.IsCaseNode();
}

inline bool IsFunctionalControlFlow(const tensorflow::NodeDef& node) {
  const std::string& op = node.op();
  return op == "While" || op == "StatelessWhile" || op == "If" || op == "StatelessIf" || op == "Case" ||
         op == "StatelessCase";
}

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_FUNCTIONS_FUNCTIONAL_CONTROL_FLOW_H_
