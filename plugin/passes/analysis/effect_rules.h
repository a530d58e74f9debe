// Side effects in loops and branches that TensorFlow may skip because no fetched value needs them.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_EFFECT_RULES_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_EFFECT_RULES_H_

#include <optional>

#include "plugin/passes/analysis/op_rules.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Whether a node other than the graph's sink has a control edge from `node`.
bool HasControlUsers(const tensorflow::Node& node);

// Refuses a loop or branch that must be lowered because of its side effects. A lowered loop or branch runs only the
// side effects on which its used results depend. A functional loop or branch runs all side effects. Both forms are
// equivalent if every result depends on every side effect. Automatic control dependencies ensure this, but are often
// missing in graphs of Sessions and wrap_function.
//
// `all_run`: whether the enclosing function runs the node even if its results are unused. A lowered loop or branch then
// runs all side effects that a result or control result of its functions needs.
std::optional<OpRefusal> RefuseUnusedEffects(const tensorflow::Node& node, bool all_run,
                                             tensorflow::FunctionLibraryRuntime* runtime);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_EFFECT_RULES_H_
