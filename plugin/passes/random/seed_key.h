// Arithmetic that replaces StatelessRandomGetKeyCounter.
#ifndef HPU_PLUGIN_PASSES_RANDOM_SEED_KEY_H_
#define HPU_PLUGIN_PASSES_RANDOM_SEED_KEY_H_

#include "absl/status/statusor.h"
#include "plugin/passes/graph/node_maker.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/graph/node_builder.h"

namespace hpu::passes {

struct SeedKey {
  tensorflow::Node* first = nullptr;  // the node that reads the seed
  tensorflow::Node* key = nullptr;
  tensorflow::Node* counter = nullptr;
};

// Adds nodes that compute key and counter of a seed like TensorFlow's CPU kernel: from one Philox block whose counter
// is the seed. If `lowered`, constants are in the frame of the seed.
absl::StatusOr<SeedKey> AddSeedKey(NodeMaker maker, tensorflow::NodeBuilder::NodeOut seed, bool lowered);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_RANDOM_SEED_KEY_H_
