// Nodes that draw categories as the CPU's kernels do.
#ifndef HPU_PLUGIN_PASSES_RANDOM_CATEGORICAL_SAMPLING_H_
#define HPU_PLUGIN_PASSES_RANDOM_CATEGORICAL_SAMPLING_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "plugin/passes/graph/node_maker.h"

namespace hpu::passes {

// What a drawing takes.
struct CategoricalSampling {
  tensorflow::NodeBuilder::NodeOut logits;  // [rows, classes], of any floating-point type; at least one class
  tensorflow::NodeBuilder::NodeOut key;
  tensorflow::NodeBuilder::NodeOut counter;
  int64_t samples;            // of each row, at least 1
  tensorflow::DataType type;  // of the categories: int32 or int64
};

// The random words that the CPU's kernels set aside for a row.
int64_t WordsOfCategories(int64_t samples);

// Categories [rows, samples], each by two words: where a 52-bit fraction of the row's sum of exponentials falls among
// the sums up to each class, all in float64. A logit that is not finite has no weight. Returns the last of the nodes
// that it adds.
absl::StatusOr<tensorflow::Node*> AddCategories(const NodeMaker& maker, const CategoricalSampling& draw);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_RANDOM_CATEGORICAL_SAMPLING_H_
