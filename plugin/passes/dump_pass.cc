// Dumps of the graphs of the earlier phases, after all passes of the phase.
#include "plugin/passes/dump.h"
#include "plugin/passes/graph_names.h"
#include "plugin/passes/graph_util.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"

namespace hpu::passes {
namespace {

constexpr int kLast = 1 << 20;

class DumpPass : public tensorflow::GraphOptimizationPass {
 public:
  tensorflow::Status Run(const tensorflow::GraphOptimizationPassOptions& options) override {
    const Settings settings = Settings::FromEnvironment();
    if (settings.dump_level < kDumpAll || !MayUseHpu(options)) return tensorflow::OkStatus();
    const std::string function = FunctionName(options);
    if (IsOthersGraph(function)) return tensorflow::OkStatus();
    const tensorflow::Graph& graph = **options.graph;
    Dump(settings, kDumpAll, DumpLabel(function, NameOfGraph(function, graph)), Stage(), graph, *options.flib_def);
    return tensorflow::OkStatus();
  }

 private:
  virtual const char* Stage() const = 0;
};

class BeforePlacement : public DumpPass {
  const char* Stage() const override { return "PRE_PLACEMENT"; }
};

class AfterPlacement : public DumpPass {
  const char* Stage() const override { return "POST_PLACEMENT"; }
};

REGISTER_OPTIMIZATION(tensorflow::OptimizationPassRegistry::PRE_PLACEMENT, kLast, BeforePlacement);
REGISTER_OPTIMIZATION(tensorflow::OptimizationPassRegistry::POST_PLACEMENT, kLast, AfterPlacement);

}  // namespace
}  // namespace hpu::passes
