// Categorical sampling (Multinomial) in plain ops, with the arithmetic of TensorFlow's CPU kernels.
#ifndef HPU_PLUGIN_PASSES_RANDOM_CATEGORICAL_SAMPLING_H_
#define HPU_PLUGIN_PASSES_RANDOM_CATEGORICAL_SAMPLING_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "plugin/passes/graph/node_maker.h"

namespace hpu::passes {

// Inputs and result type of AddCategories.
struct CategoricalSampling {
  tensorflow::NodeBuilder::NodeOut logits;  // [rows, classes], any floating-point type; at least one class
  tensorflow::NodeBuilder::NodeOut key;
  tensorflow::NodeBuilder::NodeOut counter;
  int64_t samples;            // per row, at least 1
  tensorflow::DataType type;  // type of the result: int32 or int64
};

// The number of random words that the CPU kernels reserve for a row.
int64_t WordsOfCategories(int64_t samples);

// Adds nodes that compute samples [rows, samples] from two random words each. A sample is the class whose interval in
// the cumulative sum of exponentials contains a random 52-bit fraction of the row's total. All sums are float64. A
// non-finite logit has weight 0. Returns the last added node.
absl::StatusOr<tensorflow::Node*> AddCategories(const NodeMaker& maker, const CategoricalSampling& draw);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_RANDOM_CATEGORICAL_SAMPLING_H_
