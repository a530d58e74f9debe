#include "plugin/backends/common/hlo/pooling.h"

#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "plugin/backends/common/hlo/instructions.h"
#include "xla/comparison_util.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hpu::hlo {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// The pooling with these windows, one for each dimension of an array; nullopt if Pooling does not support them.
std::optional<Pooling> PoolingOf(const std::vector<WindowDimension>& dimensions) {
  const int64_t rank = dimensions.size();
  if (rank < 3 || rank > 5 || !dimensions[0].IsTrivial()) return std::nullopt;
  Pooling pooling;
  pooling.permutation.resize(rank);
  std::iota(pooling.permutation.begin(), pooling.permutation.end(), 0);
  if (!dimensions[rank - 1].IsTrivial()) {
    if (!dimensions[1].IsTrivial()) return std::nullopt;
    pooling.permutation.erase(pooling.permutation.begin() + 1);
    pooling.permutation.push_back(1);
  }
  for (int64_t i = 1; i + 1 < rank; ++i) pooling.dimensions.push_back(dimensions[pooling.permutation[i]]);
  return pooling;
}

bool HasBaseDilation(const WindowReduction& reduction) {
  return absl::c_any_of(reduction.dimensions, [](const WindowDimension& d) { return d.base_dilation != 1; });
}

// A reduction that starts at the function's identity.
std::optional<WindowReduction> ReductionBy(HloOpcode function, const HloInstruction* instruction) {
  std::optional<WindowReduction> reduction = DescribeWindowReduction(instruction);
  const bool is = reduction.has_value() && reduction->function == function && reduction->starts_at_identity;
  return is ? reduction : std::nullopt;
}

// Whether `value` is a broadcast constant that equals the number of elements of a window.
bool IsWindowSize(const HloInstruction* value, const std::vector<WindowDimension>& windows) {
  float elements = 1;
  for (const WindowDimension& d : windows) elements *= static_cast<float>(d.window);
  const HloInstruction* const source = SourceOf(value);
  return source->opcode() == HloOpcode::kBroadcast && ScalarOf(source->operand(0)) == elements;
}

bool IsOne(const HloInstruction* value) {
  const HloInstruction* const source = SourceOf(value);
  return IsConstantOf(source->opcode() == HloOpcode::kBroadcast ? source->operand(0) : source, 1);
}

// Whether `value` holds, for each of the windows, the number of input elements in the window. `windows` has all
// dimensions of the array.
bool IsWindowCounts(const HloInstruction* value, const std::vector<WindowDimension>& windows) {
  const HloInstruction* source = SourceOf(value);
  std::vector<int64_t> dimensions(windows.size());
  std::iota(dimensions.begin(), dimensions.end(), 0);
  if (source->opcode() == HloOpcode::kBroadcast) {
    dimensions.assign(source->dimensions().begin(), source->dimensions().end());
    source = SourceOf(source->operand(0));
  }
  const std::optional<WindowReduction> counts = ReductionBy(HloOpcode::kAdd, source);
  if (!counts.has_value() || !IsOne(counts->operand) || counts->dimensions.size() != dimensions.size()) return false;
  std::vector<bool> counted(windows.size(), false);
  for (size_t i = 0; i < dimensions.size(); ++i) {
    counted[dimensions[i]] = true;
    if (!(counts->dimensions[i] == windows[dimensions[i]])) return false;
  }
  for (size_t i = 0; i < windows.size(); ++i) {
    if (!counted[i] && !windows[i].IsTrivial()) return false;
  }
  return true;
}

// Kind of `value` as a divisor of sums of these windows; nullopt if the quotient is not an average.
std::optional<Divisor> DivisorOf(const HloInstruction* value, const std::vector<WindowDimension>& windows) {
  if (IsWindowSize(value, windows)) return Divisor::kWindow;
  if (IsWindowCounts(value, windows)) return Divisor::kCounts;
  return std::nullopt;
}

// The windows of the pooling whose gradient is a sum over the windows `gradient`. Element i of the pooling's input is
// in the windows that hold padded element i, so positions in a window run backwards.
WindowDimension Forward(const WindowDimension& gradient) {
  WindowDimension d;
  d.input = gradient.output;
  d.output = gradient.input;
  d.window = gradient.window;
  d.stride = gradient.base_dilation;
  d.pad_low = d.window - 1 - gradient.pad_low;
  d.pad_high = (d.output - 1) * d.stride + d.window - d.input - d.pad_low;
  return d;
}

}  // namespace

std::optional<MaxPooling> DescribeMaxPooling(const HloInstruction* reduction) {
  const std::optional<WindowReduction> windows = ReductionBy(HloOpcode::kMaximum, reduction);
  if (!windows.has_value() || HasBaseDilation(*windows)) return std::nullopt;
  std::optional<Pooling> pooling = PoolingOf(windows->dimensions);
  if (!pooling.has_value()) return std::nullopt;
  return MaxPooling{*std::move(pooling), windows->operand};
}

std::optional<MaxSelection> MaxSelectionOf(const xla::HloComputation* select) {
  if (select->num_parameters() != 2) return std::nullopt;
  const HloInstruction* compare = select->root_instruction();
  const bool negated = compare->opcode() == HloOpcode::kNot;
  if (negated) compare = compare->operand(0);
  if (compare->opcode() != HloOpcode::kCompare || compare->operand(0) != select->parameter_instruction(0) ||
      compare->operand(1) != select->parameter_instruction(1)) {
    return std::nullopt;
  }
  const xla::ComparisonDirection direction = compare->comparison_direction();
  if (negated && direction == xla::ComparisonDirection::kLt) return MaxSelection::kNotLess;
  if (!negated && direction == xla::ComparisonDirection::kGe) return MaxSelection::kGreaterEqual;
  return std::nullopt;
}

std::optional<MaxScatter> DescribeMaxScatter(const HloInstruction* scatter) {
  if (scatter->opcode() != HloOpcode::kSelectAndScatter || !IsPlainArray(scatter->shape()) ||
      !IsPlainArray(scatter->operand(1)->shape())) {
    return std::nullopt;
  }
  const std::optional<MaxSelection> selection = MaxSelectionOf(scatter->select());
  if (!selection.has_value() || !Computes(scatter->scatter(), HloOpcode::kAdd) ||
      !IsIdentity(HloOpcode::kAdd, scatter->operand(2))) {
    return std::nullopt;
  }
  return MaxScatter{*selection, scatter->operands()[0], scatter->operands()[1],
                    WindowDimensionsOf(scatter->window(), scatter->shape(), scatter->operand(1)->shape())};
}

std::optional<MaxPoolingGradient> DescribeMaxPoolingGradient(const HloInstruction* scatter) {
  const std::optional<MaxScatter> found = DescribeMaxScatter(scatter);
  if (!found.has_value()) return std::nullopt;
  std::optional<Pooling> pooling = PoolingOf(found->dimensions);
  if (!pooling.has_value()) return std::nullopt;
  return MaxPoolingGradient{*std::move(pooling), found->selection, found->image, found->gradient};
}

std::optional<AveragePooling> DescribeAveragePooling(const HloInstruction* instruction) {
  const bool divides = instruction->opcode() == HloOpcode::kDivide;
  const HloInstruction* const sum = divides ? SourceOf(instruction->operand(0)) : instruction;
  const std::optional<WindowReduction> windows = ReductionBy(HloOpcode::kAdd, sum);
  if (!windows.has_value() || HasBaseDilation(*windows)) return std::nullopt;
  const std::optional<Divisor> divisor =
      divides ? DivisorOf(instruction->operand(1), windows->dimensions) : Divisor::kOne;
  std::optional<Pooling> pooling = PoolingOf(windows->dimensions);
  if (!divisor.has_value() || !pooling.has_value()) return std::nullopt;
  return AveragePooling{*std::move(pooling), *divisor, windows->operand, windows->reduction};
}

std::optional<AveragePoolingGradient> DescribeAveragePoolingGradient(const HloInstruction* instruction) {
  const std::optional<WindowReduction> sums = ReductionBy(HloOpcode::kAdd, instruction);
  if (!sums.has_value()) return std::nullopt;
  std::vector<WindowDimension> windows;
  for (const WindowDimension& d : sums->dimensions) {
    if (d.stride != 1 || d.dilation != 1) return std::nullopt;
    windows.push_back(Forward(d));
  }
  std::optional<Pooling> pooling = PoolingOf(windows);
  if (!pooling.has_value()) return std::nullopt;
  AveragePoolingGradient found{*std::move(pooling), Divisor::kOne, sums->operand};
  HloInstruction* const quotient = SourceOf(sums->operand);
  if (quotient->opcode() != HloOpcode::kDivide) return found;
  if (const std::optional<Divisor> divisor = DivisorOf(quotient->operand(1), windows); divisor.has_value()) {
    found.divisor = *divisor;
    found.gradient = quotient->mutable_operand(0);
  }
  return found;
}

}  // namespace hpu::hlo
