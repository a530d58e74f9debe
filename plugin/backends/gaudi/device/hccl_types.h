// Conversion of the HAL's data types and reductions to HCCL's.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_HCCL_TYPES_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_HCCL_TYPES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "plugin/backends/gaudi/hccl/types.h"
#include "plugin/backends/gaudi/synapse/generation.h"
#include "plugin/hal/communicator.h"
#include "plugin/hal/types.h"

namespace hpu::gaudi {

// A type that the collectives of all generations move. `multiplier`: elements for each element of the HAL's type.
struct MovedType {
  hccl::hcclDataType_t type = hccl::hcclFloat32;
  uint64_t multiplier = 1;
};

// Type for operations that move bytes: a type of the same size, or several f32. A card's collectives lack most integers
// and float64. Requires a valid type.
MovedType ToMovedType(hal::DataType dtype);

// Type for reductions: float32 and bfloat16, and float16 after the first generation. Unimplemented for other types;
// `operation` is for the error.
absl::StatusOr<hccl::hcclDataType_t> ToReducedType(hal::DataType dtype, synapse::Generation generation,
                                                   const char* operation);

hccl::hcclRedOp_t ToReduction(hal::ReduceOp op);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_HCCL_TYPES_H_
