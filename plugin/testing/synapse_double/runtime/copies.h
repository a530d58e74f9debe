// Copies and fills of device memory, as commands of a stream.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_COPIES_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_COPIES_H_

#include <cstdint>
#include <vector>

#include "plugin/backends/gaudi/synapse/types.h"
#include "plugin/testing/synapse_double/runtime/stream.h"

namespace hpu::synapse_double {

struct Copy {
  uint64_t source;
  uint64_t bytes;
  uint64_t destination;
};

// Queues copies as one command, which runs them in random order and reads sources when it runs. Copies of no bytes are
// not checked. Refuses (rule 19) host ranges that are not mapped (synMappingNotFound), and device ranges that overlap
// or are not inside one allocation (synInvalidArgument).
synStatus EnqueueCopies(Stream* stream, const std::vector<Copy>& copies, synapse::synDmaDir direction);

// Queues a fill with `count` elements of `element_bytes` bytes.
synStatus EnqueueFill(Stream* stream, uint64_t address, uint32_t value, uint64_t element_bytes, uint64_t count);

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_COPIES_H_
