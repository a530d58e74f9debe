// Warning for programs that use float16. The first Gaudi lacks float16; which ops later cards support is not published.
#ifndef HPU_PLUGIN_PASSES_PRECISION_FLOAT16_ADVICE_H_
#define HPU_PLUGIN_PASSES_PRECISION_FLOAT16_ADVICE_H_

#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Logs a warning, once per process, if a graph computes in float16, for example with the Keras policy mixed_float16.
// The emulator supports float16 for every op.
void AdviseOnFloat16(const tensorflow::Graph& graph);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PRECISION_FLOAT16_ADVICE_H_
