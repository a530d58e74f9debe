// What one run of the passes over one graph works on.
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

// Not thread safe; lives for one run. graph and library are the caller's and outlive it.
struct PassContext {
  PassContext(std::unique_ptr<tensorflow::Graph>* graph, tensorflow::FunctionLibraryDefinition* library,
              std::string graph_name, Settings settings);
  ~PassContext();

  // A function runtime over library, made at the first call; for analyses that look into functions, not for running.
  tensorflow::FunctionLibraryRuntime* Runtime();

  std::unique_ptr<tensorflow::Graph>* graph;  // passes may put another graph in its place
  tensorflow::FunctionLibraryDefinition* library;
  std::string graph_name;  // without its unique id, see GraphName()
  std::string function;    // with it; empty if the graph is no function's
  Settings settings;
  Report report;

 private:
  std::unique_ptr<tensorflow::ProcessFunctionLibraryRuntime> runtime_;
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_REPORTING_PASS_CONTEXT_H_
