// Advice for programs that choose float16, which the card does not have.
#ifndef HPU_PLUGIN_PASSES_PRECISION_FLOAT16_ADVICE_H_
#define HPU_PLUGIN_PASSES_PRECISION_FLOAT16_ADVICE_H_

#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Warns, once in a process, if a graph computes in float16, as the Keras policy mixed_float16 makes it do: the emulator
// can, a card cannot.
void AdviseOnFloat16(const tensorflow::Graph& graph);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PRECISION_FLOAT16_ADVICE_H_
