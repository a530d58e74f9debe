// Loops and branches with additional inputs and outputs, and the way back.
#ifndef HPU_PLUGIN_PASSES_FUNCTIONS_EXTENDED_NODES_H_
#define HPU_PLUGIN_PASSES_FUNCTIONS_EXTENDED_NODES_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/compat/function_bodies.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.pb.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/graph/node_builder.h"

namespace hpu::passes {

// An additional output of a loop or branch.
struct NewOutput {
  tensorflow::DataType type;
  tensorflow::TensorShape shape;
};

// Adds argument `index` to a function of a loop or branch.
absl::StatusOr<tensorflow::Node*> AddArgument(tensorflow::Graph* function, int index, tensorflow::DataType type);

// Adds result `index` to a function of a loop or branch.
absl::Status AddResult(tensorflow::Graph* function, int index, tensorflow::NodeBuilder::NodeOut value);

// Replaces a loop or branch by a node with more inputs and outputs, and returns it. Old inputs and outputs keep their
// places. `inputs`: nodes whose only results are the inputs. A loop gets as many inputs as outputs.
absl::StatusOr<tensorflow::Node*> Extend(tensorflow::Graph* graph, tensorflow::Node* old,
                                         const std::vector<tensorflow::Node*>& inputs,
                                         const std::vector<NewOutput>& outputs);

// Records the functions, inputs and outputs of a loop or branch for RestoreOriginal.
void KeepOriginal(tensorflow::Node* node);

// Renames a node of which KeepOriginal has a record, and gives its name to a NoOp that runs after it and after `later`.
absl::Status MoveName(tensorflow::Graph* graph, tensorflow::Node* node, const std::vector<tensorflow::Node*>& later);

// Whether KeepOriginal was called for a node.
bool HasOriginal(const tensorflow::Node& node);

// Replaces a node by the one that KeepOriginal recorded, and returns it. Removes the nodes that use the additional
// outputs. Returns `node` itself if it has no record.
absl::StatusOr<tensorflow::Node*> RestoreOriginal(tensorflow::Graph* graph, tensorflow::Node* node);

// Removes the records of KeepOriginal.
void ForgetOriginals(tensorflow::Graph* graph);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_FUNCTIONS_EXTENDED_NODES_H_
