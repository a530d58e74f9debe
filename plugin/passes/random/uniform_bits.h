// Nodes that turn random bits into numbers as the CPU's random kernels do.
#ifndef HPU_PLUGIN_PASSES_RANDOM_UNIFORM_BITS_H_
#define HPU_PLUGIN_PASSES_RANDOM_UNIFORM_BITS_H_

#include "absl/status/statusor.h"
#include "plugin/passes/graph/node_maker.h"

namespace hpu::passes {

// What a drawing takes.
struct Draw {
  tensorflow::NodeBuilder::NodeOut shape;  // int32 or int64 vector
  tensorflow::NodeBuilder::NodeOut key;
  tensorflow::NodeBuilder::NodeOut counter;
  tensorflow::DataType dtype;  // of the numbers: float32, bfloat16 or float16
};

// Whether the two below take a dtype.
bool CanConvertBits(tensorflow::DataType dtype);

// Numbers in [0, 1). Returns the last of the nodes that it adds, as does the next.
absl::StatusOr<tensorflow::Node*> AddUniform(const NodeMaker& maker, const Draw& draw);

// Numbers of the standard normal distribution, by the Box-Muller transform over pairs of neighbours.
absl::StatusOr<tensorflow::Node*> AddNormal(const NodeMaker& maker, const Draw& draw);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_RANDOM_UNIFORM_BITS_H_
