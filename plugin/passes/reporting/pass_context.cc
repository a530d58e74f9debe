#include "plugin/passes/reporting/pass_context.h"

#include <utility>

namespace hpu::passes {

PassContext::PassContext(std::unique_ptr<tensorflow::Graph>* graph, tensorflow::FunctionLibraryDefinition* library,
                         std::string graph_name, Settings settings)
    : graph(graph), library(library), graph_name(std::move(graph_name)), settings(std::move(settings)) {
  report.set_graph(this->graph_name);
}

tensorflow::FunctionLibraryRuntime* PassContext::Runtime() {
  if (!runtime_.has_value()) runtime_.emplace(library);
  return runtime_->get();
}

}  // namespace hpu::passes
