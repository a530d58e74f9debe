// What a node looks like once it works in bfloat16.
#ifndef HPU_PLUGIN_PASSES_PRECISION_BF16_TYPES_H_
#define HPU_PLUGIN_PASSES_PRECISION_BF16_TYPES_H_

#include <optional>
#include <string>
#include <vector>

#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

struct Bf16Types {
  std::vector<std::pair<std::string, tensorflow::AttrValue>> attrs;  // that change, with their new values
  std::vector<bool> inputs;                                          // data inputs that become bfloat16
  std::vector<bool> outputs;
};

// Nothing where the op cannot work in bfloat16: its types do not allow it, the HPU has no lowering of it, or its types
// are a contract with others (arguments and results, variables, calls, control flow). Where the attribute T is a
// floating type only T changes, otherwise all float32 types (dtype, Tparams, …). So batch norm's statistics (U) stay
// float32.
// XlaOpRegistry::RegisterCompilationKernels() must have been called.
std::optional<Bf16Types> FindBf16Types(const tensorflow::Node& node);

// Applies it to the node.
void SetBf16Types(const Bf16Types& types, tensorflow::Node* node);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PRECISION_BF16_TYPES_H_
