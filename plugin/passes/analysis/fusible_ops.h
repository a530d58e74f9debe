// Ops that HPU_CLUSTERING=lite allows in clusters.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_FUSIBLE_OPS_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_FUSIBLE_OPS_H_

#include <string_view>

namespace hpu::passes {

// Whether XLA fuses the op with its neighbours: element-wise arithmetic, reductions, shape changes and variable updates
// (which are element-wise). False for matrix products, convolutions, sorts, loops, branches and calls.
bool IsFusible(std::string_view op);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_FUSIBLE_OPS_H_
