// Side effects that TensorFlow skips in a loop or branch if the fetched values do not need them.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_EFFECT_RULES_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_EFFECT_RULES_H_

#include <optional>

#include "plugin/passes/analysis/op_rules.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Whether a node other than the graph's sink has a control edge from `node`.
bool HasControlUsers(const tensorflow::Node& node);

// Returns a refusal if the node is a loop or branch whose side effects forbid keeping it whole. TensorFlow lowers loops
// and branches, and then runs only the effects that the used results depend on. A node that stays whole runs all its
// effects. Both are equivalent if every result depends on every effect. Automatic control dependencies ensure that, but
// graphs of sessions and wrap_function often lack them.
//
// all_run: the enclosing function runs the node even if its results are unused. Then all effects run that the node's
// functions list as control results.
std::optional<OpRefusal> RefuseUnusedEffects(const tensorflow::Node& node, bool all_run,
                                             tensorflow::FunctionLibraryRuntime* runtime);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_EFFECT_RULES_H_
