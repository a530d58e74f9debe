// Calls of jit_compile functions: which of them may share a cluster with other ops.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_JIT_CALLS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_JIT_CALLS_H_

#include <optional>
#include <string>

#include "plugin/passes/reporting/pass_context.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Why the call of a jit_compile function must be a cluster by itself; nullopt if a cluster may hold the call and other
// ops. Such a cluster compiles the call's function as the function's own cluster would: without checks of indices and
// values, and with XLA's random numbers.
std::optional<std::string> WhyAlone(const tensorflow::Node& call, const PassContext& context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_JIT_CALLS_H_
