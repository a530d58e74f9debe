// User settings that exclude nodes from clusters: docs/tuning/clustering.md.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_CLUSTERING_RULES_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_CLUSTERING_RULES_H_

#include <optional>
#include <string>

#include "plugin/passes/analysis/op_rules.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// The argument of the tf.xla.experimental.jit_scope that contains the node; nullopt outside such scopes.
std::optional<bool> JitScope(const tensorflow::Node& node);

// The name of the node's jit_scope; empty for a node without a name or scope.
std::string JitScopeName(const tensorflow::Node& node);

// Puts a node into a jit_scope.
void SetJitScope(tensorflow::Node* node, bool compile, const std::string& name);

// The setting that excludes a node from clusters, or nullopt.
std::optional<OpRefusal> RefuseBySettings(const tensorflow::Node& node, const Settings& settings);

// Like RefuseBySettings, for a node in a function that a cluster calls. RefuseBySettings has already accepted the call.
std::optional<OpRefusal> RefuseInsideBySettings(const tensorflow::Node& node, const Settings& settings);

// Whether the settings allow clusters in the graph.
bool AllowsClusters(const PassContext& context);

// Adds a refusal of every HPU node to the report, for a graph in which the settings allow no cluster.
void RecordClusteringOff(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_CLUSTERING_RULES_H_
