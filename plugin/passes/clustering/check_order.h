// Connection of an op with the check of its arguments or results.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_CHECK_ORDER_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_CHECK_ORDER_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "plugin/passes/reporting/pass_context.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// The ops that follow an update of a variable on the HPU, through data or control edges. On the CPU, an error of such
// an op leaves the update done, so that no cluster with both may wait for a check. States of random numbers do not
// count: most models with dropout would check their labels after the step.
class UpdateFollowers {
 public:
  explicit UpdateFollowers(const tensorflow::Graph& graph);

  bool Contains(const tensorflow::Node& node) const { return follows_[node.id()]; }

 private:
  std::vector<bool> follows_;  // by node id
};

// Adds a control edge from `check` to `node` if `before` is true, and reports the check. Otherwise the check runs after
// the cluster of `node`, and kChecksAttr of `node` records it. The report's text begins with `what`, for example
// "indices are". Errors of `check` name `node`, so that TensorFlow shows the program's line; if
// several nodes share a check, its errors name the first.
void OrderCheck(PassContext* context, tensorflow::Node* node, tensorflow::Node* check, absl::string_view what,
                bool before);

// Copies the origin of `node` to `check`, because errors name a node by its origin. A node that no pass has inlined is
// its own origin.
void SetOrigin(const tensorflow::Node& node, tensorflow::Node* check);

// Records that `check` runs after the cluster of `node`.
void AddLateCheck(const tensorflow::Node& check, tensorflow::Node* node);

// A check that runs after the clusters of the ops whose values it checks.
struct LateCheck {
  tensorflow::Node* check = nullptr;
  std::vector<tensorflow::Node*> checked;
};

// The checks that OrderCheck recorded, in order of their node ids. Removes kChecksAttr from the graph. Moves the checks
// whose inputs are on the HPU to the HPU.
std::vector<LateCheck> TakeLateChecks(tensorflow::Graph* graph);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_CHECK_ORDER_H_
