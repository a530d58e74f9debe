// What the user's settings keep out of clusters: docs/tuning/clustering.md.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_CLUSTERING_RULES_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_CLUSTERING_RULES_H_

#include <optional>
#include <string>

#include "plugin/passes/analysis/op_rules.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// What tf.xla.experimental.jit_scope says of a node, nothing outside of such scopes.
std::optional<bool> JitScope(const tensorflow::Node& node);

// The name of the node's jit_scope; empty without one.
std::string JitScopeName(const tensorflow::Node& node);

// Puts a node into a jit_scope.
void SetJitScope(tensorflow::Node* node, bool compile, const std::string& name);

// What the settings have against a node of a graph.
std::optional<OpRefusal> RefuseBySettings(const tensorflow::Node& node, const Settings& settings);

// The same for a node in a function that a cluster would hold whole: the call itself has been asked already.
std::optional<OpRefusal> RefuseInsideBySettings(const tensorflow::Node& node, const Settings& settings);

// Whether the settings let a graph have clusters; if not, every node on an HPU gets a refusal in the report.
bool MayHaveClusters(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_CLUSTERING_RULES_H_
