// Recognisers of reductions: one binary operation, argmax and argmin.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_HLO_REDUCTION_H_
#define HPU_PLUGIN_BACKENDS_COMMON_HLO_REDUCTION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hpu::hlo {

// A reduction of one array by one binary operation.
struct Reduction {
  xla::HloOpcode function;  // opcode of the operation on two scalars: kAdd, kMultiply, kMaximum, kMinimum, kAnd, kOr, …
  xla::HloInstruction* operand;
  xla::HloInstruction* initial;
  bool starts_at_identity;          // else the result must be combined with `initial`
  std::vector<int64_t> dimensions;  // reduced dimensions, ascending
};
// Nullopt for other instructions, for several arrays, and for other computations.
std::optional<Reduction> DescribeReduction(const xla::HloInstruction* reduce);

// The extremum along a dimension and its position. Get-tuple-elements of the reduction read them: 0 is the extremum, 1
// the position.
struct ArgReduction {
  // Which of several equal extrema is found.
  enum class Ties {
    kFirst,    // the lowest position
    kAnyEqual  // any of them: the order in which the reduction combines elements decides
  };
  bool minimum;  // argmin, else argmax
  Ties ties;
  int64_t dimension;
  xla::HloInstruction* operand;
};
// Describes a reduction of an array and an iota along the reduced dimension by tf2xla's comparison >= or <= (argmax and
// argmin). A comparison with NaN is false and selects the right-hand element, so the next element replaces a NaN.
// Nullopt for other reductions.
std::optional<ArgReduction> DescribeArgReduction(const xla::HloInstruction* reduce);

}  // namespace hpu::hlo

#endif  // HPU_PLUGIN_BACKENDS_COMMON_HLO_REDUCTION_H_
