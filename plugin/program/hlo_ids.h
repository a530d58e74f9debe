// Ids of instructions and computations in HloModuleProto.
#ifndef HPU_PLUGIN_PROGRAM_HLO_IDS_H_
#define HPU_PLUGIN_PROGRAM_HLO_IDS_H_

#include <cstdint>

#include "xla/service/hlo.pb.h"

namespace hpu {

// The id of an instruction in its computation. XLA's newer protos add the computation's id, in the upper half, where an
// instruction is referred to, but not in its own id.
inline int64_t LocalId(int64_t id) { return id & 0xffffffff; }

// Numbers instructions and computations from 1, in the order in which the module names them. Programs that differ only
// in their ids become equal. Every release of XLA accepts the result.
void RenumberIds(xla::HloModuleProto* module);

}  // namespace hpu

#endif  // HPU_PLUGIN_PROGRAM_HLO_IDS_H_
