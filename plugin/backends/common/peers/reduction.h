// Reduce: element-wise reduction of arrays, as in AllReduce and ReduceScatter.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_PEERS_REDUCTION_H_
#define HPU_PLUGIN_BACKENDS_COMMON_PEERS_REDUCTION_H_

#include <cstdint>
#include <vector>

#include "plugin/hal/communicator.h"
#include "plugin/hal/types.h"

namespace hpu::peers {

bool IsReducible(hal::DataType dtype);

// Reduces `count` elements of each source, in the order of the sources, and writes the result to every destination. A
// destination may also be a source. Requires IsReducible(dtype).
void Reduce(hal::DataType dtype, hal::ReduceOp op, const std::vector<const char*>& sources, uint64_t count,
            const std::vector<char*>& destinations);

}  // namespace hpu::peers

#endif  // HPU_PLUGIN_BACKENDS_COMMON_PEERS_REDUCTION_H_
