// Inputs, state and report of one run of the passes over one graph.
#ifndef HPU_PLUGIN_PASSES_REPORTING_PASS_CONTEXT_H_
#define HPU_PLUGIN_PASSES_REPORTING_PASS_CONTEXT_H_

#include <memory>
#include <optional>
#include <string>

#include "plugin/compat/function_runtimes.h"
#include "plugin/passes/graph/settings.h"
#include "plugin/passes/reporting/report.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Used for a single run. `graph` and `library` must outlive this object. Not thread safe.
struct PassContext {
  PassContext(std::unique_ptr<tensorflow::Graph>* graph, tensorflow::FunctionLibraryDefinition* library,
              std::string graph_name, Settings settings);

  // A function runtime for `library`, created on the first call. Only for analysing functions, not for running them.
  tensorflow::FunctionLibraryRuntime* Runtime();

  std::unique_ptr<tensorflow::Graph>* graph;  // passes may replace the graph
  tensorflow::FunctionLibraryDefinition* library;
  std::string graph_name;  // name in cluster names, dumps and reports (graph_names.h)
  std::string function;    // full function name; empty for a Session's graph
  Settings settings;
  Report report;
  bool must_compile = false;  // the graph is of a jit_compile function: stateless random ops have XLA's numbers

 private:
  std::optional<AnalysisRuntime> runtime_;
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_REPORTING_PASS_CONTEXT_H_
