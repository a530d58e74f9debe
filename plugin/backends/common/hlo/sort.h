// Recogniser of sorts by one key, with the part of the result that a program reads (top-k).
#ifndef HPU_PLUGIN_BACKENDS_COMMON_HLO_SORT_H_
#define HPU_PLUGIN_BACKENDS_COMMON_HLO_SORT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hpu::hlo {

// How a comparator orders two elements.
struct SortOrder {
  bool descending = false;
  // Whether floats are in total order: -NaN, -inf, …, -0, 0, …, inf, NaN. True for integers and booleans. Else -0
  // equals 0, and the places of NaN are undefined.
  bool total = true;
  // Whether the comparator orders equal keys by the second operand, ascending.
  bool ties_by_second = false;
};
// The order that a sort's comparator defines if it compares the first operand by < or >; else nullopt. Recognises
// comparisons of type TOTALORDER, and the integers that xla::ComparisonExpander compares instead of floats.
std::optional<SortOrder> SortOrderOf(const xla::HloComputation* comparator);

struct Sort {
  struct Operand {
    xla::HloInstruction* value;
    bool is_position;  // an iota of int32 along the sorted dimension; never true for the keys
    // The instructions that represent the sorted operand: get-tuple-elements, or the sort itself. Empty if unused.
    std::vector<xla::HloInstruction*> results;
  };
  bool descending;
  bool total_order;  // SortOrder::total
  bool stable;       // whether equal keys keep their order
  int64_t dimension;
  std::vector<Operand> operands;  // the keys, then payloads and positions
  // Results hold `size` elements along the dimension. The program reads the first `count` of them: fewer than `size` if
  // all users of all results are slices of the first `count` elements (top-k).
  int64_t size;
  int64_t count;

  // Number of operands that must be moved with the keys: operands with results, except keys and positions.
  int64_t payloads() const;
};

// Describes a sort. Nullopt for other comparators, for a sort that is the root of its computation, and if an
// instruction other than get-tuple-element uses the tuple of results. A comparator that orders equal keys by the second
// operand matches if the second operand is the position, as in a stable sort.
std::optional<Sort> DescribeSort(const xla::HloInstruction* sort);

// The keys of a sort, without surrounding instructions that only change the order.
struct SortKeys {
  xla::HloInstruction* operand;
  bool negated = false;        // reverses the total order; only floats
  std::vector<int64_t> order;  // dimensions of the removed transpose; empty if there is none
  int64_t dimension;           // sorted dimension of `operand`
};
// Looks through negations and, with `may_transpose`, through one transpose. Without a transpose, payloads keep the
// keys' shape.
SortKeys SortKeysOf(const xla::HloInstruction* sort, bool may_transpose);

}  // namespace hpu::hlo

#endif  // HPU_PLUGIN_BACKENDS_COMMON_HLO_SORT_H_
