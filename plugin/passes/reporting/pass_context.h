// Inputs, state and report of one run of the passes over one graph.
#ifndef HPU_PLUGIN_PASSES_REPORTING_PASS_CONTEXT_H_
#define HPU_PLUGIN_PASSES_REPORTING_PASS_CONTEXT_H_

#include <memory>
#include <string>

#include "plugin/passes/graph/settings.h"
#include "plugin/passes/reporting/report.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace tensorflow {
class FunctionLibraryRuntime;
class ProcessFunctionLibraryRuntime;
}  // namespace tensorflow

namespace hpu::passes {

// Not thread safe; lives for one run. `graph` and `library` belong to the caller and outlive this.
struct PassContext {
  PassContext(std::unique_ptr<tensorflow::Graph>* graph, tensorflow::FunctionLibraryDefinition* library,
              std::string graph_name, Settings settings);
  ~PassContext();

  // A function runtime over `library`, created on the first call. For analyses of function bodies, not for execution.
  tensorflow::FunctionLibraryRuntime* Runtime();

  std::unique_ptr<tensorflow::Graph>* graph;  // passes may replace the graph
  tensorflow::FunctionLibraryDefinition* library;
  std::string graph_name;  // without its unique id, see GraphName()
  std::string function;    // the full name with the id; empty if the graph is not a function's
  Settings settings;
  Report report;

 private:
  std::unique_ptr<tensorflow::ProcessFunctionLibraryRuntime> runtime_;
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_REPORTING_PASS_CONTEXT_H_
