// Side effects of loops and branches that TensorFlow runs only if what is fetched needs them.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_EFFECT_RULES_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_EFFECT_RULES_H_

#include <optional>

#include "plugin/passes/analysis/op_rules.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Whether a node other than the graph's sink waits for a node.
bool HasControlUsers(const tensorflow::Node& node);

// A refusal if the node is a loop or branch that may not stay whole because of its side effects. TensorFlow lowers
// loops and branches and then runs the effects that the used results depend on. Whole, a node runs them all. Both are
// the same if every result depends on every effect, as automatic control dependencies make it; in graphs of sessions
// and in wrap_function it often does not.
//
// all_run: the function that the node is in runs the node whatever is used of it, so all effects that its functions
// name as their control results run.
std::optional<OpRefusal> RefuseUnusedEffects(const tensorflow::Node& node, bool all_run,
                                             tensorflow::FunctionLibraryRuntime* runtime);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_EFFECT_RULES_H_
