// Reductions.
#include <cstdint>
#include <limits>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/gaudi/lowerings/lowerings.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/base/status_macros.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/literal.h"
#include "xla/literal_util.h"
#include "xla/primitive_util.h"

namespace hpu::gaudi {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// The opcode of a computation that applies one instruction to its two parameters.
std::optional<HloOpcode> CombinerOf(const xla::HloComputation& computation) {
  const HloInstruction* root = computation.root_instruction();
  if (computation.num_parameters() != 2 || root->operand_count() != 2) return std::nullopt;
  const bool uses_both = (root->operand(0) == computation.parameter_instruction(0) &&
                          root->operand(1) == computation.parameter_instruction(1)) ||
                         (root->operand(0) == computation.parameter_instruction(1) &&
                          root->operand(1) == computation.parameter_instruction(0));
  return uses_both ? std::optional<HloOpcode>(root->opcode()) : std::nullopt;
}

struct Kernels {
  absl::string_view reduction;
  absl::string_view elementwise;  // of the same operation
};

std::optional<Kernels> KernelsOf(HloOpcode opcode) {
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

// Whether the initial value changes nothing.
bool IsNeutral(const HloInstruction& initial, HloOpcode opcode) {
  if (initial.opcode() != HloOpcode::kConstant) return false;
  const xla::PrimitiveType type = initial.shape().element_type();
  switch (opcode) {
    case HloOpcode::kAdd:
      return initial.literal() == xla::LiteralUtil::Zero(type);
    case HloOpcode::kMultiply:
      return initial.literal() == xla::LiteralUtil::One(type);
    case HloOpcode::kMaximum:
    case HloOpcode::kOr:
      return initial.literal() == xla::LiteralUtil::MinValue(type);
    case HloOpcode::kMinimum:
    case HloOpcode::kAnd:
      return initial.literal() == xla::LiteralUtil::MaxValue(type);
    default:
      return false;
  }
}

// Reduces the dimensions of `is_reduced` to size 1.
absl::StatusOr<TensorId> ReduceDimensions(PlanBuilder& builder, absl::string_view stem, TensorId x,
                                          const std::vector<bool>& is_reduced) {
  // Neighbouring dimensions of one kind are one dimension of the node.
  const Sizes old_sizes = builder.sizes(x);
  Sizes merged;
  Sizes result;
  std::vector<bool> kinds;
  for (size_t d = 0; d < old_sizes.size(); ++d) {
    result.push_back(is_reduced[d] ? 1 : old_sizes[d]);
    if (!kinds.empty() && kinds.back() == is_reduced[d]) {
      merged.back() *= old_sizes[d];
    } else {
      merged.push_back(old_sizes[d]);
      kinds.push_back(is_reduced[d]);
    }
  }
  HPU_ASSIGN_OR_RETURN(TensorId value, Reshape(builder, x, merged));
  // A node supports 5 dimensions. More have at least three reduced ones: the outer ones come first.
  synapse::ns_Reduction::ParamsV2 params = {};
  params.keepDim = true;
  Sizes reduced = merged;
  for (size_t d = 0; d < merged.size(); ++d) {
    if (!kinds[d]) continue;
    reduced[d] = 1;
    params.reductionDimensionMask |= 1u << d;
  }
  if (params.reductionDimensionMask == 0) return x;
  if (merged.size() > 5) return absl::UnimplementedError(absl::StrCat(stem, " supports ranks up to 5"));
  HPU_ASSIGN_OR_RETURN(
      value, builder.AddTyped(stem, builder.type(value), {value}, {builder.type(value), reduced}, ParamsBytes(params)));
  return Reshape(builder, value, result);
}

absl::Status LowerReduce(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  if (!instruction.shape().IsArray()) return absl::UnimplementedError("reductions of several arrays have no nodes");
  const std::optional<HloOpcode> opcode = CombinerOf(*instruction.to_apply());
  const std::optional<Kernels> kernels = opcode.has_value() ? KernelsOf(*opcode) : std::nullopt;
  if (!kernels.has_value()) return absl::UnimplementedError("the reduction's computation has no node");
  const xla::PrimitiveType type = instruction.shape().element_type();
  if (type == xla::U32 || type == xla::U64) {
    if (*opcode != HloOpcode::kAdd && *opcode != HloOpcode::kMultiply) {
      return absl::UnimplementedError("extrema of unsigned integers have no node");
    }
  }
  HPU_ASSIGN_OR_RETURN(TensorId x, lowering.Operand(instruction, 0));
  const synapse::synDataType element_type = builder.type(x);
  std::vector<bool> is_reduced(builder.sizes(x).size());
  const int64_t rank = instruction.operand(0)->shape().rank();
  for (const int64_t d : instruction.dimensions()) is_reduced[rank - 1 - d] = true;
  // Sums of bfloat16 lose their low bits, so they are float32.
  const bool is_sum = *opcode == HloOpcode::kAdd || *opcode == HloOpcode::kMultiply;
  const bool is_widened = is_sum && IsFloat(element_type) && element_type != synapse::syn_type_float;
  if (is_widened) {
    HPU_ASSIGN_OR_RETURN(x, Cast(builder, x, synapse::syn_type_float));
  }
  HPU_ASSIGN_OR_RETURN(TensorId value, ReduceDimensions(builder, kernels->reduction, x, is_reduced));
  if (!is_sum && IsFloat(element_type)) {
    // HLO's extremum is NaN if an element is; that of the kernels is not known.
    HPU_ASSIGN_OR_RETURN(const TensorId is_number, Compare(builder, "equal_fwd", x, x));
    HPU_ASSIGN_OR_RETURN(const TensorId are_numbers,
                         ReduceDimensions(builder, "reduce_min_multi_dim_fwd", is_number, is_reduced));
    HPU_ASSIGN_OR_RETURN(const TensorId nan, ScalarLike(builder, value, std::numeric_limits<double>::quiet_NaN()));
    HPU_ASSIGN_OR_RETURN(value, Where(builder, are_numbers, value, nan));
  }
  if (!IsNeutral(*instruction.operand(1), *opcode)) {
    HPU_ASSIGN_OR_RETURN(TensorId initial, lowering.Operand(instruction, 1));
    HPU_ASSIGN_OR_RETURN(initial, Cast(builder, initial, builder.type(value)));
    HPU_ASSIGN_OR_RETURN(initial, Reshape(builder, initial, Sizes(builder.sizes(value).size(), 1)));
    HPU_ASSIGN_OR_RETURN(value, Elementwise(builder, kernels->elementwise, {value, initial}));
  }
  if (is_widened) {
    HPU_ASSIGN_OR_RETURN(value, Cast(builder, value, element_type));
  }
  HPU_ASSIGN_OR_RETURN(value, Reshape(builder, value, SizesOf(instruction.shape())));
  lowering.Set(instruction, value);
  return absl::OkStatus();
}

}  // namespace

void AddReductions(LowerTable* table) { (*table)[HloOpcode::kReduce] = LowerReduce; }

}  // namespace hpu::gaudi
