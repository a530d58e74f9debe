// Sorting by topk, independent of how topk orders equal elements, NaN and -0, and of whether it compares i32 as f32.
//
// topk sorts f32 integers below 2^24 that are all different: the high bits are bits of a key, the low bits the
// element's position. Longer keys take several passes, the least significant bits first (a radix sort).
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_SORTING_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_SORTING_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/backends/gaudi/plan/plan_builder.h"
#include "xla/xla_data.pb.h"

// Every function fails as PlanBuilder::AddNode does.
namespace hpu::gaudi {

// Unsigned numbers of 1 to 32 bits, in i32.
struct KeyWord {
  TensorId word;
  int bits;
};

// Words whose order is the order of the keys, the least significant word first. Floats are in total order: -NaN, -inf,
// …, -0, 0, …, inf, NaN. Without `total_order` -0 equals 0.
absl::StatusOr<std::vector<KeyWord>> KeyWords(PlanBuilder& builder, TensorId keys, xla::PrimitiveType type,
                                              bool total_order);

// Positions, i32 {count, columns}, of the first `count` elements of each sorted column of the words {n, columns}. Equal
// elements keep their order. Unimplemented for more than 2^23 elements.
absl::StatusOr<TensorId> SortedPositions(PlanBuilder& builder, const std::vector<KeyWord>& words, bool descending,
                                         uint64_t count);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_SORTING_H_
