// HCCL's data types in the double: sizes, names, and the types that a card's collectives support.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_HCL_ELEMENT_TYPES_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_HCL_ELEMENT_TYPES_H_

#include <cstdint>
#include <vector>

#include "plugin/backends/gaudi/hccl/types.h"
#include "plugin/backends/gaudi/synapse/generation.h"

namespace hpu::synapse_double {

// Bytes of an element; 0 for an unknown type.
uint64_t BytesOf(hccl::hcclDataType_t type);
// "f32"; "?" for an unknown type.
const char* NameOf(hccl::hcclDataType_t type);

// Whether a card reduces the type: f32 and bf16, and f16 after the first generation. The references list no types; the
// double takes the types that every source names.
bool IsReducible(hccl::hcclDataType_t type, synapse::Generation generation);
// Whether a card moves the type: types that it reduces, and types of one byte.
bool IsMovable(hccl::hcclDataType_t type, synapse::Generation generation);

// Reduces `count` elements of each source, in the order of the sources, and rounds once.
void Reduce(hccl::hcclDataType_t type, hccl::hcclRedOp_t op, const std::vector<const char*>& sources, uint64_t count,
            char* destination);

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_HCL_ELEMENT_TYPES_H_
