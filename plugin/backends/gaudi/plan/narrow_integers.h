// Integers of 8 and 16 bits as words of 32 bits.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_PLAN_NARROW_INTEGERS_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_PLAN_NARROW_INTEGERS_H_

#include "absl/status/statusor.h"
#include "plugin/backends/gaudi/plan/plan_builder.h"
#include "xla/xla_data.pb.h"

// Every function fails as PlanBuilder::AddNode does.
namespace hpu::gaudi {

// An integer or boolean array of at most 32 bits as i32 with the same values; U32 keeps its bits.
absl::StatusOr<TensorId> ToWord(PlanBuilder& builder, TensorId x, xla::PrimitiveType source);
// The low bits of i32 as an integer type of at most 32 bits. Inverse of ToWord.
absl::StatusOr<TensorId> FromWord(PlanBuilder& builder, TensorId word, xla::PrimitiveType target);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_PLAN_NARROW_INTEGERS_H_
