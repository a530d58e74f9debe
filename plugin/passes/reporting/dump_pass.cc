#include "plugin/passes/reporting/dump_pass.h"

#include "plugin/passes/graph/graph_names.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/reporting/dump.h"

namespace hpu::passes {
namespace {

tensorflow::Status DumpStage(const tensorflow::GraphOptimizationPassOptions& options, const char* stage) {
  const Settings settings = Settings::FromEnvironment();
  if (settings.dump_level < kDumpAll || !MayUseHpu(options)) return tensorflow::OkStatus();
  const std::string function = FunctionName(options);
  if (IsSkippedGraph(function)) return tensorflow::OkStatus();
  const tensorflow::Graph& graph = **options.graph;
  Dump(settings, kDumpAll, DumpLabel(function, NameOfGraph(function, graph)), stage, graph, *options.flib_def);
  return tensorflow::OkStatus();
}

}  // namespace

tensorflow::Status DumpBeforePlacement(const tensorflow::GraphOptimizationPassOptions& options) {
  return DumpStage(options, "PRE_PLACEMENT");
}

tensorflow::Status DumpAfterPlacement(const tensorflow::GraphOptimizationPassOptions& options) {
  return DumpStage(options, "POST_PLACEMENT");
}

}  // namespace hpu::passes
