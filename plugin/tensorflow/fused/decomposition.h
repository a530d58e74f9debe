// Decomposition: the plain ops that compute a fused op, in execution order.
#ifndef HPU_PLUGIN_TENSORFLOW_FUSED_DECOMPOSITION_H_
#define HPU_PLUGIN_TENSORFLOW_FUSED_DECOMPOSITION_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/passes/patterns/op_text.h"
#include "tensorflow/core/framework/node_properties.h"

namespace hpu {

struct Decomposition {
  // A result of a step, or an input of the fused op (step -1).
  struct Value {
    int step = -1;
    int index = 0;
    tensorflow::DataType type = tensorflow::DT_INVALID;
  };
  struct Step {
    std::shared_ptr<const tensorflow::NodeProperties> properties;
    std::vector<Value> inputs;
  };

  std::vector<Step> steps;
  std::vector<Value> results;
};

// Builds the ops of `statements` for a fused node and inserts the values of the node's attributes. Types follow from
// the node's inputs. A number has the type of the op's other inputs. The tensors of a list input or list result
// `images` have the names images0, images1, …
absl::StatusOr<Decomposition> MakeDecomposition(const std::vector<passes::OpStatement>& statements,
                                                const tensorflow::NodeDef& node, const tensorflow::OpDef& op,
                                                const tensorflow::DataTypeVector& input_types);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_FUSED_DECOMPOSITION_H_
