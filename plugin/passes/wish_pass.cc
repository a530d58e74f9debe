// The pass that notes, while ops are recorded, which ones the program keeps off the HPU itself: after placement the
// device that it asked for is forgotten.
#include "plugin/passes/graph_util.h"
#include "plugin/passes/report.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"

namespace hpu::passes {
namespace {

class WishPass : public tensorflow::GraphOptimizationPass {
 public:
  tensorflow::Status Run(const tensorflow::GraphOptimizationPassOptions& options) override {
    if (options.graph == nullptr || !CollectsOpRecords()) return tensorflow::OkStatus();
    for (tensorflow::Node* node : (*options.graph)->op_nodes()) {
      if (IsPinnedElsewhere(*node)) node->AddAttr(kWishAttr, true);
    }
    return tensorflow::OkStatus();
  }
};

// Before every other pass: what they ask for is no wish of the program.
REGISTER_OPTIMIZATION(tensorflow::OptimizationPassRegistry::PRE_PLACEMENT, -1, WishPass);

}  // namespace
}  // namespace hpu::passes
