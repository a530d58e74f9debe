// Uniform and normal random numbers in plain ops, with the arithmetic of TensorFlow's CPU kernels.
#ifndef HPU_PLUGIN_PASSES_RANDOM_UNIFORM_BITS_H_
#define HPU_PLUGIN_PASSES_RANDOM_UNIFORM_BITS_H_

#include "absl/status/statusor.h"
#include "plugin/passes/graph/node_maker.h"

namespace hpu::passes {

// Inputs and result type of AddUniform and AddNormal.
struct Draw {
  tensorflow::NodeBuilder::NodeOut shape;  // int32 or int64 vector
  tensorflow::NodeBuilder::NodeOut key;
  tensorflow::NodeBuilder::NodeOut counter;
  tensorflow::DataType dtype;  // type of the numbers: float32, bfloat16 or float16
};

// Whether AddUniform and AddNormal support a dtype.
bool CanConvertBits(tensorflow::DataType dtype);

// Adds nodes for uniform numbers in [0, 1). Returns the last added node.
absl::StatusOr<tensorflow::Node*> AddUniform(const NodeMaker& maker, const Draw& draw);

// Adds nodes for standard normal numbers, by the Box-Muller transform of adjacent words. Returns the last added node.
absl::StatusOr<tensorflow::Node*> AddNormal(const NodeMaker& maker, const Draw& draw);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_RANDOM_UNIFORM_BITS_H_
