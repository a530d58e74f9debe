// Layout conversion of channels-first functions for CPU kernels that require channels last.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_LAYOUT_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_LAYOUT_H_

#include "tensorflow/core/framework/function.pb.h"
#include "tensorflow/core/framework/node_def.pb.h"

namespace hpu {

// Whether the node computes on channels-first data (NCHW, NCDHW) with an op whose CPU kernel may reject that layout.
bool IsChannelsFirst(const tensorflow::NodeDef& node);

// Converts every channels-first node of `function` to channels last, between transposes.
void ToChannelsLast(tensorflow::FunctionDef* function);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_LAYOUT_H_
