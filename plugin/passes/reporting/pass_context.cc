#include "plugin/passes/reporting/pass_context.h"

#include <utility>

#include "tensorflow/core/common_runtime/process_function_library_runtime.h"
#include "tensorflow/core/public/version.h"

namespace hpu::passes {

PassContext::PassContext(std::unique_ptr<tensorflow::Graph>* graph, tensorflow::FunctionLibraryDefinition* library,
                         std::string graph_name, Settings settings)
    : graph(graph), library(library), graph_name(std::move(graph_name)), settings(std::move(settings)) {
  report.set_graph(this->graph_name);
}

PassContext::~PassContext() = default;

tensorflow::FunctionLibraryRuntime* PassContext::Runtime() {
  if (runtime_ == nullptr) {
    runtime_ = std::make_unique<tensorflow::ProcessFunctionLibraryRuntime>(
        /*device_mgr=*/nullptr, tensorflow::Env::Default(), /*config=*/nullptr, TF_GRAPH_DEF_VERSION, library,
        tensorflow::OptimizerOptions());
  }
  return runtime_->GetFLR(tensorflow::ProcessFunctionLibraryRuntime::kDefaultFLRDevice);
}

}  // namespace hpu::passes
