// Recogniser of cumulative sums, products and logarithms of sums of exponentials (tf.cumsum).
#ifndef HPU_PLUGIN_BACKENDS_COMMON_HLO_CUMULATIVE_H_
#define HPU_PLUGIN_BACKENDS_COMMON_HLO_CUMULATIVE_H_

#include <cstdint>
#include <optional>

#include "xla/hlo/ir/hlo_instruction.h"

namespace hpu::hlo {

// A cumulative reduction along one dimension. It starts at the function's identity.
struct Cumulative {
  enum class Function { kAdd, kMultiply, kLogAddExp };
  // Elements of the result along the dimension, for n elements of the operand.
  enum class Extent {
    kInclusive,     // n; element i includes operand element i
    kExclusive,     // n; element i does not include operand element i
    kWithIdentity,  // n + 1; the identity, then kInclusive (in reverse: kInclusive, then the identity)
  };
  Function function;
  Extent extent;
  bool reverse;  // accumulation starts at the last element
  int64_t dimension;
  xla::HloInstruction* operand;
};

// Describes a reduce-window whose windows are as long as the dimension and padded on one side. Also describes a slice
// that makes such a reduce-window exclusive. Operand and result must have the same element type and static shapes with
// elements. Nullopt for other instructions.
std::optional<Cumulative> DescribeCumulative(const xla::HloInstruction* instruction);

}  // namespace hpu::hlo

#endif  // HPU_PLUGIN_BACKENDS_COMMON_HLO_CUMULATIVE_H_
