#include "plugin/passes/placement/user_pin_pass.h"

#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/reporting/report.h"

namespace hpu::passes {
tensorflow::Status RunUserPinPass(const tensorflow::GraphOptimizationPassOptions& options) {
  if (options.graph == nullptr || !CollectsOpRecords()) return tensorflow::OkStatus();
  for (tensorflow::Node* node : (*options.graph)->op_nodes()) {
    if (IsPinnedToOtherDevice(*node)) node->AddAttr(kUserPinAttr, true);
  }
  return tensorflow::OkStatus();
}

}  // namespace hpu::passes
