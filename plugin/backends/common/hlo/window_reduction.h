// Recogniser of reduce-window.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_HLO_WINDOW_REDUCTION_H_
#define HPU_PLUGIN_BACKENDS_COMMON_HLO_WINDOW_REDUCTION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/shape.h"
#include "xla/xla_data.pb.h"

namespace hpu::hlo {

// Windows over a dimension. Window `o` holds the padded elements o * stride + k * dilation - pad_low, k < window.
// Element i of the input is padded element i * base_dilation; padded elements between and around the input are empty.
struct WindowDimension {
  int64_t input = 1;
  int64_t output = 1;  // number of windows
  int64_t window = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t base_dilation = 1;
  int64_t pad_low = 0;   // negative: crops elements
  int64_t pad_high = 0;  // the minimum for `output` windows; negative: crops elements

  // Whether window o holds exactly element o, for all elements.
  bool IsTrivial() const;
  bool operator==(const WindowDimension& other) const;
};

// One dimension for each dimension of `input`.
std::vector<WindowDimension> WindowDimensionsOf(const xla::Window& window, const xla::Shape& input,
                                                const xla::Shape& output);

// A reduction of each window by one binary operation.
struct WindowReduction {
  xla::HloInstruction* reduction;  // the reduce-window
  xla::HloOpcode function;         // opcode of the operation on two scalars: kAdd, kMaximum, …
  xla::HloInstruction* operand;
  xla::HloInstruction* initial;
  bool starts_at_identity;  // whether `initial` is the function's identity, so that empty elements do not matter
  std::vector<WindowDimension> dimensions;
};

// Describes a reduce-window of one array, or a pad that only crops the result of a reduce-window without other users.
// Looks through a pad of the operand that crops nothing and pads with the function's identity, if starts_at_identity is
// true and the windows have no base dilation: `dimensions` then include the padding. Nullopt for other instructions and
// for other computations.
std::optional<WindowReduction> DescribeWindowReduction(const xla::HloInstruction* instruction);

}  // namespace hpu::hlo

#endif  // HPU_PLUGIN_BACKENDS_COMMON_HLO_WINDOW_REDUCTION_H_
