// Guards of variables that loops and branches update.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_INNER_GUARDS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_INNER_GUARDS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/compat/function_bodies.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// A test in a function. `passes` has a boolean scalar as its only result.
struct InnerTest {
  const tensorflow::Node* checked;  // the op whose indices or values are tested
  tensorflow::Node* passes;
};

// Makes the updates of variables in the function of a loop or branch depend on `enabled`, a boolean scalar, and on the
// tests. A test does not guard an update on which its op depends: as on the CPU, such an update happens before the
// error. Loops and branches in the function get the boolean as an input, and guard their own updates. `enabled` may be
// null.
absl::Status GuardInnerUpdates(tensorflow::Graph* function, tensorflow::Node* enabled,
                               const std::vector<InnerTest>& tests, tensorflow::FunctionLibraryDefinition* library);

// Records that the given input of a loop or branch is the boolean for its updates.
void SetGuardInput(tensorflow::Node* node, int input);

// Ends a loop when `flag`, a boolean scalar in its condition, is false.
absl::Status EndIfFalse(tensorflow::FunctionBody* condition, tensorflow::Node* flag);

// A node that runs after all effects of the function; null if there are none.
absl::StatusOr<tensorflow::Node*> AfterEffects(tensorflow::Graph* function);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_INNER_GUARDS_H_
