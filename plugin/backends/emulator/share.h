// DoShare: what one of several threads does of a collective operation.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_SHARE_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_SHARE_H_

#include <vector>

#include "plugin/backends/emulator/meeting.h"

namespace hpu::emulator {

// Whether reductions take the type.
bool IsReducible(hal::DataType dtype);

// `parts` are those of all ranks, which agree. Each element of a result is written by one rank's share alone, after it
// has read all that it is made of; so sources may be destinations.
void DoShare(int rank, const std::vector<Part>& parts);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_SHARE_H_
