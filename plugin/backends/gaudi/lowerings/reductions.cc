#include "plugin/backends/gaudi/lowerings/reductions.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "plugin/backends/common/hlo/reduction.h"
#include "plugin/backends/gaudi/lowerings/arg_reductions.h"
#include "plugin/backends/gaudi/lowerings/elementwise_operands.h"
#include "plugin/backends/gaudi/lowerings/lowerings.h"
#include "plugin/backends/gaudi/lowerings/scalar_computations.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/backends/gaudi/plan/wide_integers.h"
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/base/status_macros.h"
#include "xla/shape_util.h"

namespace hpu::gaudi {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

struct Kernels {
  absl::string_view reduction;
  absl::string_view elementwise;  // of the same operation
};

// Masks are 0 or 1, so their maximum is their disjunction, and their minimum their conjunction.
std::optional<Kernels> KernelsOf(HloOpcode opcode, xla::PrimitiveType type) {
  if ((opcode == HloOpcode::kOr || opcode == HloOpcode::kAnd) && type != xla::PRED) return std::nullopt;
  switch (opcode) {
    case HloOpcode::kAdd:
      return Kernels{"reduce_sum_multi_dim_fwd", "add_fwd"};
    case HloOpcode::kMultiply:
      return Kernels{"reduce_prod_multi_dim_fwd", "mult_fwd"};
    case HloOpcode::kMaximum:
    case HloOpcode::kOr:
      return Kernels{"reduce_max_multi_dim_fwd", "max_fwd"};
    case HloOpcode::kMinimum:
    case HloOpcode::kAnd:
      return Kernels{"reduce_min_multi_dim_fwd", "min_fwd"};
    default:
      return std::nullopt;
  }
}

// Dimensions of an operand that a reduction reduces, fastest first.
std::vector<bool> ReducedAxes(const HloInstruction& instruction) {
  const xla::Shape& shape = instruction.operand(0)->shape();
  std::vector<bool> is_reduced(SizesOf(shape).size());
  for (const int64_t d : instruction.dimensions()) is_reduced[shape.dimensions_size() - 1 - d] = true;
  return is_reduced;
}

// HLO's extremum is NaN if an element or the initial value is NaN; what the kernels return is not known.
absl::StatusOr<TensorId> WithNan(PlanBuilder& builder, TensorId extremum, TensorId x,
                                 const std::vector<bool>& is_reduced, TensorId initial) {
  HPU_ASSIGN_OR_RETURN(TensorId is_number, Compare(builder, "equal_fwd", x, x));
  HPU_ASSIGN_OR_RETURN(is_number, ReduceDimensions(builder, "reduce_min_multi_dim_fwd", is_number, is_reduced));
  if (initial != kNoTensor) {
    HPU_ASSIGN_OR_RETURN(const TensorId is_initial_number, Compare(builder, "equal_fwd", initial, initial));
    HPU_ASSIGN_OR_RETURN(is_number, Elementwise(builder, "bitwise_and_fwd", {is_number, is_initial_number}));
  }
  HPU_ASSIGN_OR_RETURN(const TensorId nan, ScalarLike(builder, extremum, std::numeric_limits<double>::quiet_NaN()));
  return Where(builder, is_number, extremum, nan);
}

// The type in which a kernel reduces elements. Sums and products of 16-bit floats lose low bits, so they are float32.
synapse::synDataType ReductionType(HloOpcode opcode, synapse::synDataType type) {
  const bool is_sum = opcode == HloOpcode::kAdd || opcode == HloOpcode::kMultiply;
  return is_sum && IsFloat(type) ? synapse::syn_type_float : type;
}

absl::StatusOr<TensorId> ReduceByKernel(Lowering& lowering, const HloInstruction& instruction,
                                        const hlo::Reduction& reduction, const Kernels& kernels) {
  PlanBuilder& builder = lowering.builder();
  const HloOpcode opcode = reduction.function;
  HPU_ASSIGN_OR_RETURN(TensorId x, lowering.Operand(instruction, 0));
  const synapse::synDataType element_type = builder.type(x);
  const bool flips_sign = IsExtremum(opcode) && HasHiddenSign(instruction);
  const std::vector<bool> is_reduced = ReducedAxes(instruction);
  const auto convert = [&](TensorId value) -> absl::StatusOr<TensorId> {
    if (flips_sign) return FlipSign(builder, value);
    return Cast(builder, value, ReductionType(opcode, element_type));
  };
  HPU_ASSIGN_OR_RETURN(x, convert(x));
  const bool is_wide_sum = opcode == HloOpcode::kAdd && element_type == synapse::syn_type_int64;
  absl::StatusOr<TensorId> reduced =
      is_wide_sum ? SumWide(builder, x, is_reduced) : ReduceDimensions(builder, kernels.reduction, x, is_reduced);
  HPU_ASSIGN_OR_RETURN(TensorId value, std::move(reduced));
  TensorId initial = kNoTensor;
  if (!reduction.starts_at_identity) {
    HPU_ASSIGN_OR_RETURN(initial, lowering.Operand(instruction, 1));
    HPU_ASSIGN_OR_RETURN(initial, Reshape(builder, initial, Sizes(is_reduced.size(), 1)));
    HPU_ASSIGN_OR_RETURN(initial, convert(initial));
    HPU_ASSIGN_OR_RETURN(value, Elementwise(builder, kernels.elementwise, {value, initial}));
  }
  if (IsExtremum(opcode) && IsFloat(element_type)) {
    HPU_ASSIGN_OR_RETURN(value, WithNan(builder, value, x, is_reduced, initial));
  }
  if (flips_sign) return FlipSign(builder, value);
  return Cast(builder, value, element_type);
}

// Every `step`-th row of [begin, end).
absl::StatusOr<TensorId> RowsFrom(PlanBuilder& builder, TensorId x, uint64_t begin, uint64_t end, uint64_t step) {
  return Slice(builder, x, {0, begin}, {builder.sizes(x)[0], end}, {1, step});
}

// Combines arrays of equal sizes, as {elements}, by the reduction's computation.
absl::StatusOr<std::vector<TensorId>> CombineArrays(Lowering& lowering, const HloInstruction& reduce,
                                                    const std::vector<TensorId>& left,
                                                    const std::vector<TensorId>& right) {
  PlanBuilder& builder = lowering.builder();
  const Sizes sizes = builder.sizes(left.front());
  std::vector<TensorId> arguments = left;
  arguments.insert(arguments.end(), right.begin(), right.end());
  for (TensorId& argument : arguments) {
    HPU_ASSIGN_OR_RETURN(argument, Reshape(builder, argument, {ElementCount(sizes)}));
  }
  HPU_ASSIGN_OR_RETURN(std::vector<TensorId> results, ApplyToElements(lowering, reduce, arguments));
  for (TensorId& result : results) {
    HPU_ASSIGN_OR_RETURN(result, Reshape(builder, result, sizes));
  }
  return results;
}

// Combines neighbouring rows {row, rows} of each array. Halves the number of rows, rounding up.
absl::StatusOr<std::vector<TensorId>> CombineNeighbours(Lowering& lowering, const HloInstruction& reduce,
                                                        const std::vector<TensorId>& arrays) {
  PlanBuilder& builder = lowering.builder();
  const uint64_t rows = builder.sizes(arrays.front())[1];
  const uint64_t even_rows = rows / 2 * 2;
  std::vector<TensorId> left, right;
  for (const TensorId array : arrays) {
    HPU_ASSIGN_OR_RETURN(const TensorId even, RowsFrom(builder, array, 0, even_rows, 2));
    HPU_ASSIGN_OR_RETURN(const TensorId odd, RowsFrom(builder, array, 1, even_rows, 2));
    left.push_back(even);
    right.push_back(odd);
  }
  HPU_ASSIGN_OR_RETURN(std::vector<TensorId> results, CombineArrays(lowering, reduce, left, right));
  if (rows == even_rows) return results;
  for (size_t i = 0; i < arrays.size(); ++i) {
    HPU_ASSIGN_OR_RETURN(const TensorId last, RowsFrom(builder, arrays[i], even_rows, rows, 1));
    HPU_ASSIGN_OR_RETURN(results[i], Concatenate(builder, {results[i], last}, 1));
  }
  return results;
}

// An operand as {row, rows}: the reduced dimensions are the rows.
absl::StatusOr<TensorId> ReducedRows(Lowering& lowering, const HloInstruction& reduce, int64_t operand) {
  PlanBuilder& builder = lowering.builder();
  const xla::Shape& shape = reduce.operand(operand)->shape();
  std::vector<int64_t> order(reduce.dimensions().begin(), reduce.dimensions().end());
  absl::c_sort(order);
  uint64_t rows = 1;
  for (const int64_t d : order) rows *= shape.dimensions(d);
  for (int64_t d = 0; d < shape.dimensions_size(); ++d) {
    if (!absl::c_linear_search(reduce.dimensions(), d)) order.push_back(d);
  }
  HPU_ASSIGN_OR_RETURN(TensorId x, lowering.Operand(reduce, operand));
  HPU_ASSIGN_OR_RETURN(x, HloTranspose(builder, x, order));
  return Reshape(builder, x, {ElementCount(builder.sizes(x)) / rows, rows});
}

// Reduces arrays by any associative computation, in log2(rows) steps.
absl::StatusOr<std::vector<TensorId>> ReduceByComputation(Lowering& lowering, const HloInstruction& reduce) {
  PlanBuilder& builder = lowering.builder();
  const int64_t count = reduce.operand_count() / 2;
  std::vector<TensorId> arrays, initial;
  for (int64_t i = 0; i < count; ++i) {
    HPU_ASSIGN_OR_RETURN(const TensorId array, ReducedRows(lowering, reduce, i));
    arrays.push_back(array);
  }
  while (builder.sizes(arrays.front())[1] > 1) {
    HPU_ASSIGN_OR_RETURN(arrays, CombineNeighbours(lowering, reduce, arrays));
  }
  const Sizes sizes = builder.sizes(arrays.front());
  for (int64_t i = 0; i < count; ++i) {
    HPU_ASSIGN_OR_RETURN(TensorId value, lowering.Operand(reduce, count + i));
    HPU_ASSIGN_OR_RETURN(value, Splat(builder, value, sizes));
    initial.push_back(value);
  }
  return CombineArrays(lowering, reduce, initial, arrays);
}

// Sets the initial values as the result of a reduction of no elements.
absl::Status SetInitialValues(Lowering& lowering, const HloInstruction& reduce) {
  const int64_t count = reduce.operand_count() / 2;
  std::vector<TensorId> values;
  for (int64_t i = 0; i < count; ++i) {
    HPU_ASSIGN_OR_RETURN(const TensorId initial, lowering.Operand(reduce, count + i));
    const xla::Shape& shape =
        reduce.shape().IsTuple() ? reduce.shape().tuple_shapes(static_cast<int>(i)) : reduce.shape();
    HPU_ASSIGN_OR_RETURN(const TensorId value, Splat(lowering.builder(), initial, SizesOf(shape)));
    values.push_back(value);
  }
  lowering.SetTuple(reduce, std::move(values));
  return absl::OkStatus();
}

// The kernels of a reduction of one array; nullopt if kernels do not support its function or type.
std::optional<Kernels> KernelsFor(const PlanBuilder& builder, const HloInstruction& reduce, HloOpcode opcode,
                                  synapse::synDataType type) {
  const std::optional<Kernels> kernels = KernelsOf(opcode, reduce.shape().element_type());
  if (!kernels.has_value()) return std::nullopt;
  if (opcode == HloOpcode::kAdd && type == synapse::syn_type_int64) return kernels;  // SumWide
  return builder.Has(kernels->reduction, ReductionType(opcode, type)) ? kernels : std::nullopt;
}

// Whether kernels compare the elements of an argmax or argmin.
bool HasExtrema(const PlanBuilder& builder, const hlo::ArgReduction& reduction) {
  const auto type = SynapseType(reduction.operand->shape().element_type(), builder.generation());
  return type.ok() && builder.Has("reduce_max_multi_dim_fwd", *type);
}

absl::Status LowerReduce(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  if (xla::ShapeUtil::IsZeroElementArray(instruction.operand(0)->shape())) {
    return SetInitialValues(lowering, instruction);
  }
  if (const auto found = hlo::DescribeArgReduction(&instruction); found.has_value() && HasExtrema(builder, *found)) {
    return LowerArgReduction(lowering, instruction, *found);
  }
  if (instruction.shape().IsArray()) {
    HPU_ASSIGN_OR_RETURN(const TensorType type, lowering.TypeOf(instruction));
    const std::optional<hlo::Reduction> reduction = hlo::DescribeReduction(&instruction);
    const std::optional<Kernels> kernels =
        reduction.has_value() ? KernelsFor(builder, instruction, reduction->function, type.type) : std::nullopt;
    if (kernels.has_value()) {
      HPU_ASSIGN_OR_RETURN(TensorId value, ReduceByKernel(lowering, instruction, *reduction, *kernels));
      HPU_ASSIGN_OR_RETURN(value, Reshape(builder, value, type.sizes));
      lowering.Set(instruction, value);
      return absl::OkStatus();
    }
  }
  HPU_ASSIGN_OR_RETURN(std::vector<TensorId> values, ReduceByComputation(lowering, instruction));
  for (size_t i = 0; i < values.size(); ++i) {
    const xla::Shape& shape =
        instruction.shape().IsTuple() ? instruction.shape().tuple_shapes(static_cast<int>(i)) : instruction.shape();
    HPU_ASSIGN_OR_RETURN(values[i], Reshape(builder, values[i], SizesOf(shape)));
  }
  lowering.SetTuple(instruction, std::move(values));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TensorId> ReduceDimensions(PlanBuilder& builder, absl::string_view stem, TensorId x,
                                          const std::vector<bool>& is_reduced) {
  // Neighbouring dimensions of one kind are one dimension of the node.
  const Sizes old_sizes = builder.sizes(x);
  Sizes merged;
  Sizes result;
  std::vector<bool> kinds;
  for (size_t d = 0; d < old_sizes.size(); ++d) {
    result.push_back(is_reduced[d] ? 1 : old_sizes[d]);
    if (old_sizes[d] == 1) continue;
    if (!kinds.empty() && kinds.back() == is_reduced[d]) {
      merged.back() *= old_sizes[d];
    } else {
      merged.push_back(old_sizes[d]);
      kinds.push_back(is_reduced[d]);
    }
  }
  if (!absl::c_linear_search(kinds, true)) return Reshape(builder, x, result);
  if (merged.size() > kMaxKernelRank) {
    // Reduces the outermost reduced dimension first.
    const size_t last = kinds.back() ? kinds.size() - 1 : kinds.size() - 2;
    const auto at = merged.begin() + static_cast<std::ptrdiff_t>(last);
    HPU_ASSIGN_OR_RETURN(
        x,
        Reshape(builder, x, {ElementCount(Sizes(merged.begin(), at)), *at, ElementCount(Sizes(at + 1, merged.end()))}));
    HPU_ASSIGN_OR_RETURN(x, ReduceDimensions(builder, stem, x, {false, true, false}));
    merged[last] = 1;
    HPU_ASSIGN_OR_RETURN(x, Reshape(builder, x, merged));
    HPU_ASSIGN_OR_RETURN(x, ReduceDimensions(builder, stem, x, kinds));
    return Reshape(builder, x, result);
  }
  synapse::ns_Reduction::ParamsV2 params = {};
  params.keepDim = true;
  Sizes reduced = merged;
  for (size_t d = 0; d < merged.size(); ++d) {
    if (!kinds[d]) continue;
    reduced[d] = 1;
    params.reductionDimensionMask |= 1u << d;
  }
  HPU_ASSIGN_OR_RETURN(x, Reshape(builder, x, merged));
  HPU_ASSIGN_OR_RETURN(const TensorId value,
                       builder.AddTyped(stem, builder.type(x), {x}, {builder.type(x), reduced}, ParamsBytes(params)));
  return Reshape(builder, value, result);
}

void AddReductions(LowerTable* table) { (*table)[HloOpcode::kReduce] = LowerReduce; }

}  // namespace hpu::gaudi
