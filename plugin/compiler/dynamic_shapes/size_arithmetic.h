// SizeArithmetic: the integer operations of a program that compute values from sizes.
#ifndef HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_SIZE_ARITHMETIC_H_
#define HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_SIZE_ARITHMETIC_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/compiler/dynamic_shapes/size_sources.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/literal.h"
#include "xla/shape.h"

namespace hpu {

// Copies the operations, so the program may change afterwards. Not thread safe.
class SizeArithmetic {
 public:
  // `values` are small arrays of integers or booleans.
  SizeArithmetic(absl::Span<const xla::HloInstruction* const> values, SizeSources* sources);

  // The instructions on which the values depend, apart from arithmetic. Valid as long as the program is unchanged.
  const std::vector<const xla::HloInstruction*>& inputs() const { return inputs_; }
  // The shape of each input.
  const std::vector<xla::Shape>& input_shapes() const { return input_shapes_; }
  // Whether all inputs are small arrays of integers.
  bool HasSizesOnly() const;

  // Computes the values, as a tuple. `inputs` holds the elements of each input.
  absl::StatusOr<xla::Literal> Evaluate(const std::vector<std::vector<int64_t>>& inputs) const;

  // Whether a shape is a small array of integers or booleans.
  static bool IsSizes(const xla::Shape& shape);
  // Whether an instruction is arithmetic on small arrays of integers and booleans, or such a constant.
  static bool Covers(const xla::HloInstruction& instruction);

 private:
  // Whether an instruction is arithmetic on scalars, on arguments, and on results of such arithmetic. The number of
  // true elements of a mask is an input, although the mask may be as small as an array of sizes.
  bool HasSizeOperands(const xla::HloInstruction& instruction, SizeSources* sources);
  xla::HloInstruction* Add(const xla::HloInstruction* instruction, SizeSources* sources);

  xla::HloComputation::Builder builder_;
  xla::HloModule module_;
  std::vector<const xla::HloInstruction*> inputs_;
  std::vector<xla::Shape> input_shapes_;
  absl::flat_hash_map<const xla::HloInstruction*, bool> has_size_operands_;
  absl::flat_hash_map<const xla::HloInstruction*, xla::HloInstruction*> copies_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_SIZE_ARITHMETIC_H_
