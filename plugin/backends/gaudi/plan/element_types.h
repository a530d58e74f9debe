// Element types of HLO in Synapse graphs.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_PLAN_ELEMENT_TYPES_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_PLAN_ELEMENT_TYPES_H_

#include "absl/status/statusor.h"
#include "plugin/backends/gaudi/plan/plan_builder.h"
#include "plugin/backends/gaudi/synapse/generation.h"
#include "plugin/backends/gaudi/synapse/types.h"
#include "xla/shape.h"
#include "xla/xla_data.pb.h"

namespace hpu::gaudi {

// The type of a plan's tensors that hold elements of `type`. PRED is i8, with values 0 and 1. Unsigned types of 32 and
// 64 bits map to the signed types of equal size, because kernels lack them. Nodes must not depend on the sign.
// Unimplemented for float64, complex types, and types that the generation lacks.
absl::StatusOr<synapse::synDataType> SynapseType(xla::PrimitiveType type, synapse::Generation generation);

// Sizes of an array, fastest dimension first. {1} for a scalar.
Sizes SizesOf(const xla::Shape& shape);
// Type and sizes of an array. Fails as SynapseType does.
absl::StatusOr<TensorType> TensorTypeOf(const xla::Shape& shape, synapse::Generation generation);

bool IsFloat(synapse::synDataType type);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_PLAN_ELEMENT_TYPES_H_
