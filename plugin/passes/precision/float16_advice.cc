#include "plugin/passes/precision/float16_advice.h"

#include <atomic>

#include "absl/algorithm/container.h"
#include "tensorflow/core/platform/logging.h"

namespace hpu::passes {

void AdviseOnFloat16(const tensorflow::Graph& graph) {
  static std::atomic<bool> advised{false};
  if (advised) return;
  for (const tensorflow::Node* node : graph.op_nodes()) {
    if (!absl::c_linear_search(node->output_types(), tensorflow::DT_HALF) || advised.exchange(true)) continue;
    LOG(WARNING)
        << node->name() << " (" << node->type_string() << ") computes in float16. Only the emulator supports float16 "
        << "for every op: Gaudi lacks the type, and no public source lists the float16 ops of Gaudi2 and Gaudi3. Use "
        << "tf.keras.mixed_precision.set_global_policy(\"mixed_bfloat16\") instead of \"mixed_float16\", or "
        << "TF_BF16_CONVERSION=full with a float32 model (docs/tuning/mixed_precision.md).";
    return;
  }
}

}  // namespace hpu::passes
