// Index operands of gathers and scatters.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_INDICES_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_INDICES_H_

#include <cstdint>

#include "plugin/testing/synapse_double/kernels/dense_array.h"
#include "plugin/testing/synapse_double/kernels/kernel.h"

namespace hpu::synapse_double {

// Fails unless `index` is in [0, limit).
inline bool RequireIndex(KernelContext* context, int64_t index, int64_t limit) {
  return context->Require(index >= 0 && index < limit, "index ", index, " is out of range [0, ", limit, ")");
}

// Loads input `i`. Fails unless it holds i32 or i64 in [0, limit).
inline bool LoadIndices(KernelContext* context, size_t i, int64_t limit, DenseArray<int64_t>* indices) {
  const ElementType type = context->input(i).type;
  if (!context->Require(type == ElementType::kI32 || type == ElementType::kI64, "input ", i,
                        ": expected i32 or i64, found ", SuffixOf(type))) {
    return false;
  }
  *indices = Load<int64_t>(context->input(i));
  for (int64_t at = 0; at < indices->count(); ++at) {
    if (!RequireIndex(context, (*indices)[at], limit)) return false;
  }
  return true;
}

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_INDICES_H_
