// Types of a node after conversion to bfloat16.
#ifndef HPU_PLUGIN_PASSES_PRECISION_BF16_TYPES_H_
#define HPU_PLUGIN_PASSES_PRECISION_BF16_TYPES_H_

#include <optional>
#include <string>
#include <vector>

#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

struct Bf16Types {
  std::vector<std::pair<std::string, tensorflow::AttrValue>> attrs;  // changed attributes, with new values
  std::vector<bool> inputs;                                          // whether a data input becomes bfloat16
  std::vector<bool> outputs;
};

// The types of a node after conversion to bfloat16. nullopt if the op does not support bfloat16 or has no bfloat16
// lowering. Also nullopt if other nodes rely on the node's types (arguments and results, variables, calls, control
// flow). If the attribute T is a floating-point type, only T changes; batch norm's statistics (U) stay float32, for
// example. Otherwise all float32 type attributes change. Requires an earlier call of
// XlaOpRegistry::RegisterCompilationKernels().
std::optional<Bf16Types> FindBf16Types(const tensorflow::Node& node);

void SetBf16Types(const Bf16Types& types, tensorflow::Node* node);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PRECISION_BF16_TYPES_H_
