// Elementwise instructions.
#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/gaudi/lowerings/lowerings.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/base/status_macros.h"
#include "xla/literal.h"
#include "xla/primitive_util.h"

namespace hpu::gaudi {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

absl::StatusOr<std::vector<TensorId>> Operands(Lowering& lowering, const HloInstruction& instruction) {
  std::vector<TensorId> operands;
  for (const HloInstruction* operand : instruction.operands()) {
    HPU_ASSIGN_OR_RETURN(const TensorId id, lowering.Broadcastable(operand));
    operands.push_back(id);
  }
  return operands;
}

absl::Status SetResult(Lowering& lowering, const HloInstruction& instruction, absl::StatusOr<TensorId> value) {
  HPU_RETURN_IF_ERROR(value.status());
  lowering.SetBroadcastable(instruction, *value);
  return absl::OkStatus();
}

bool IsUnsigned(const HloInstruction& instruction) {
  return xla::primitive_util::IsUnsignedIntegralType(instruction.shape().element_type());
}

// Whether kernels see the elements with another sign: SynapseType maps the type to a signed one.
bool HasHiddenSign(const HloInstruction& instruction) {
  const xla::PrimitiveType type = instruction.shape().element_type();
  return type == xla::U32 || type == xla::U64;
}

// The kernel of an opcode that needs nothing else. Empty if there is none.
absl::string_view KernelOf(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kAdd:
      return "add_fwd";
    case HloOpcode::kSubtract:
      return "sub_fwd";
    case HloOpcode::kMultiply:
      return "mult_fwd";
    case HloOpcode::kPower:
      return "pow_fwd";
    case HloOpcode::kAtan2:
      return "atan2_fwd";
    case HloOpcode::kAbs:
      return "abs_fwd";
    case HloOpcode::kNegate:
      return "neg_fwd";
    case HloOpcode::kCeil:
      return "ceil_fwd";
    case HloOpcode::kFloor:
      return "floor_fwd";
    case HloOpcode::kRoundNearestEven:
      return "round_fwd";
    case HloOpcode::kExp:
      return "exp_fwd";
    case HloOpcode::kExpm1:
      return "expm1_fwd";
    case HloOpcode::kLog:
      return "log_fwd";
    case HloOpcode::kLog1p:
      return "log1p_fwd";
    case HloOpcode::kSqrt:
      return "sqrt_fwd";
    case HloOpcode::kRsqrt:
      return "rsqrt_fwd";
    case HloOpcode::kSin:
      return "sin_fwd";
    case HloOpcode::kCos:
      return "cos_fwd";
    case HloOpcode::kTan:
      return "tan_fwd";
    case HloOpcode::kTanh:
      return "tanh_fwd";
    case HloOpcode::kLogistic:
      return "sigmoid_fwd";
    default:
      return "";
  }
}

absl::Status LowerSimple(Lowering& lowering, const HloInstruction& instruction) {
  HPU_ASSIGN_OR_RETURN(std::vector<TensorId> operands, Operands(lowering, instruction));
  return SetResult(lowering, instruction,
                   Elementwise(lowering.builder(), KernelOf(instruction.opcode()), std::move(operands)));
}

absl::Status LowerCompare(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(std::vector<TensorId> operands, Operands(lowering, instruction));
  const xla::ComparisonDirection direction = instruction.comparison_direction();
  const bool is_equality = direction == xla::ComparisonDirection::kEq || direction == xla::ComparisonDirection::kNe;
  if (!is_equality && HasHiddenSign(*instruction.operand(0))) {
    for (TensorId& operand : operands) {
      HPU_ASSIGN_OR_RETURN(operand, FlipSign(builder, operand));
    }
  }
  const auto compare = [&](absl::string_view stem) { return Compare(builder, stem, operands[0], operands[1]); };
  switch (direction) {
    case xla::ComparisonDirection::kEq:
      return SetResult(lowering, instruction, compare("equal_fwd"));
    case xla::ComparisonDirection::kNe: {
      HPU_ASSIGN_OR_RETURN(const TensorId equal, compare("equal_fwd"));
      return SetResult(lowering, instruction, Not(builder, equal));
    }
    case xla::ComparisonDirection::kLt:
      return SetResult(lowering, instruction, compare("less_fwd"));
    case xla::ComparisonDirection::kLe:
      return SetResult(lowering, instruction, compare("less_equal_fwd"));
    case xla::ComparisonDirection::kGt:
      return SetResult(lowering, instruction, compare("greater_fwd"));
    case xla::ComparisonDirection::kGe:
      return SetResult(lowering, instruction, compare("greater_equal_fwd"));
  }
  return absl::InternalError("unknown comparison");
}

// The instruction whose elements `instruction` repeats.
const HloInstruction* SkipBroadcasts(const HloInstruction* instruction) {
  while (instruction->opcode() == HloOpcode::kBroadcast || instruction->opcode() == HloOpcode::kReshape) {
    instruction = instruction->operand(0);
  }
  return instruction;
}

// Whether an element may be NaN.
bool MayBeNan(const HloInstruction* instruction) {
  if (!xla::primitive_util::IsFloatingPointType(instruction->shape().element_type())) return false;
  const HloInstruction* source = SkipBroadcasts(instruction);
  if (source->opcode() != HloOpcode::kConstant || source->shape().rank() != 0) return true;
  return std::isnan(source->literal().GetAsDouble({}).value_or(std::nan("")));
}

// max_fwd or min_fwd. HLO's result is NaN if an operand is; that of the kernels is not known.
absl::StatusOr<TensorId> Extremum(PlanBuilder& builder, absl::string_view stem, TensorId a, bool a_may_be_nan,
                                  TensorId b, bool b_may_be_nan) {
  HPU_ASSIGN_OR_RETURN(TensorId value, Elementwise(builder, stem, {a, b}));
  for (const auto& [operand, may_be_nan] : {std::pair(b, b_may_be_nan), std::pair(a, a_may_be_nan)}) {
    if (!may_be_nan) continue;
    HPU_ASSIGN_OR_RETURN(const TensorId is_number, Compare(builder, "equal_fwd", operand, operand));
    HPU_ASSIGN_OR_RETURN(value, Where(builder, is_number, value, operand));
  }
  return value;
}

absl::Status LowerExtremum(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(std::vector<TensorId> operands, Operands(lowering, instruction));
  const absl::string_view stem = instruction.opcode() == HloOpcode::kMaximum ? "max_fwd" : "min_fwd";
  if (HasHiddenSign(instruction)) {
    for (TensorId& operand : operands) {
      HPU_ASSIGN_OR_RETURN(operand, FlipSign(builder, operand));
    }
    HPU_ASSIGN_OR_RETURN(const TensorId value, Elementwise(builder, stem, operands));
    return SetResult(lowering, instruction, FlipSign(builder, value));
  }
  return SetResult(lowering, instruction,
                   Extremum(builder, stem, operands[0], MayBeNan(instruction.operand(0)), operands[1],
                            MayBeNan(instruction.operand(1))));
}

// clamp(low, x, high)
absl::Status LowerClamp(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  if (HasHiddenSign(instruction)) return absl::UnimplementedError("clamp has no nodes for unsigned integers");
  const auto bound = [&](int64_t index) -> absl::StatusOr<TensorId> {
    HPU_ASSIGN_OR_RETURN(const TensorId id, lowering.Broadcastable(instruction.operand(index)));
    if (instruction.operand(index)->shape().rank() == instruction.shape().rank()) return id;
    return Reshape(builder, id, Sizes(SizesOf(instruction.shape()).size(), 1));
  };
  HPU_ASSIGN_OR_RETURN(const TensorId low, bound(0));
  HPU_ASSIGN_OR_RETURN(const TensorId x, lowering.Broadcastable(instruction.operand(1)));
  HPU_ASSIGN_OR_RETURN(const TensorId high, bound(2));
  const bool may_be_nan = MayBeNan(instruction.operand(1));
  HPU_ASSIGN_OR_RETURN(const TensorId raised,
                       Extremum(builder, "max_fwd", x, may_be_nan, low, MayBeNan(instruction.operand(0))));
  return SetResult(lowering, instruction,
                   Extremum(builder, "min_fwd", raised, may_be_nan, high, MayBeNan(instruction.operand(2))));
}

absl::Status LowerSelect(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(std::vector<TensorId> operands, Operands(lowering, instruction));
  const size_t rank = SizesOf(instruction.shape()).size();
  if (builder.sizes(operands[0]).size() != rank) {
    HPU_ASSIGN_OR_RETURN(operands[0], Reshape(builder, operands[0], Sizes(rank, 1)));
  }
  return SetResult(lowering, instruction, Where(builder, operands[0], operands[1], operands[2]));
}

// -1, 0 or 1. NaN and zeros keep their value, which the kernel may not do.
absl::Status LowerSign(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  if (IsUnsigned(instruction)) return absl::UnimplementedError("sign has no nodes for unsigned integers");
  HPU_ASSIGN_OR_RETURN(const TensorId x, lowering.Broadcastable(instruction.operand(0)));
  HPU_ASSIGN_OR_RETURN(const TensorId sign, Elementwise(builder, "sign_fwd", {x}));
  if (!IsFloat(builder.type(x))) return SetResult(lowering, instruction, sign);
  HPU_ASSIGN_OR_RETURN(const TensorId zero, ScalarLike(builder, x, 0));
  HPU_ASSIGN_OR_RETURN(const TensorId is_negative, Compare(builder, "less_fwd", x, zero));
  HPU_ASSIGN_OR_RETURN(const TensorId is_positive, Compare(builder, "greater_fwd", x, zero));
  HPU_ASSIGN_OR_RETURN(const TensorId has_sign, Elementwise(builder, "bitwise_or_fwd", {is_negative, is_positive}));
  return SetResult(lowering, instruction, Where(builder, has_sign, sign, x));
}

// Rounds half away from zero.
absl::Status LowerRoundAfz(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(const TensorId x, lowering.Broadcastable(instruction.operand(0)));
  HPU_ASSIGN_OR_RETURN(const TensorId magnitude, Elementwise(builder, "abs_fwd", {x}));
  HPU_ASSIGN_OR_RETURN(const TensorId floor, Elementwise(builder, "floor_fwd", {magnitude}));
  HPU_ASSIGN_OR_RETURN(const TensorId fraction, Elementwise(builder, "sub_fwd", {magnitude, floor}));
  HPU_ASSIGN_OR_RETURN(const TensorId half, ScalarLike(builder, x, 0.5));
  HPU_ASSIGN_OR_RETURN(const TensorId one, ScalarLike(builder, x, 1));
  HPU_ASSIGN_OR_RETURN(const TensorId zero, ScalarLike(builder, x, 0));
  HPU_ASSIGN_OR_RETURN(const TensorId is_up, Compare(builder, "greater_equal_fwd", fraction, half));
  HPU_ASSIGN_OR_RETURN(const TensorId above, Elementwise(builder, "add_fwd", {floor, one}));
  HPU_ASSIGN_OR_RETURN(const TensorId rounded, Where(builder, is_up, above, floor));
  HPU_ASSIGN_OR_RETURN(const TensorId negated, Elementwise(builder, "neg_fwd", {rounded}));
  HPU_ASSIGN_OR_RETURN(const TensorId is_negative, Compare(builder, "less_fwd", x, zero));
  HPU_ASSIGN_OR_RETURN(const TensorId is_zero, Compare(builder, "equal_fwd", x, zero));
  HPU_ASSIGN_OR_RETURN(const TensorId with_sign, Where(builder, is_negative, negated, rounded));
  return SetResult(lowering, instruction, Where(builder, is_zero, x, with_sign));
}

absl::Status LowerCbrt(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(const TensorId x, lowering.Broadcastable(instruction.operand(0)));
  HPU_ASSIGN_OR_RETURN(const TensorId magnitude, Elementwise(builder, "abs_fwd", {x}));
  HPU_ASSIGN_OR_RETURN(const TensorId third, ScalarLike(builder, x, 1.0 / 3));
  HPU_ASSIGN_OR_RETURN(const TensorId root, Elementwise(builder, "pow_fwd", {magnitude, third}));
  HPU_ASSIGN_OR_RETURN(const TensorId negated, Elementwise(builder, "neg_fwd", {root}));
  HPU_ASSIGN_OR_RETURN(const TensorId zero, ScalarLike(builder, x, 0));
  HPU_ASSIGN_OR_RETURN(const TensorId is_negative, Compare(builder, "less_fwd", x, zero));
  return SetResult(lowering, instruction, Where(builder, is_negative, negated, root));
}

absl::Status LowerIsFinite(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(const TensorId x, lowering.Broadcastable(instruction.operand(0)));
  return SetResult(
      lowering, instruction,
      builder.sizes(x).size() <= 5
          ? builder.AddTyped("isfinite_fwd", builder.type(x), {x}, {synapse::syn_type_int8, builder.sizes(x)})
          : absl::StatusOr<TensorId>(absl::UnimplementedError("isfinite_fwd supports ranks up to 5")));
}

// Masks are 0 or 1, so their bits are their values.
absl::Status LowerLogical(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(const std::vector<TensorId> operands, Operands(lowering, instruction));
  switch (instruction.opcode()) {
    case HloOpcode::kAnd:
      return SetResult(lowering, instruction, Elementwise(builder, "bitwise_and_fwd", operands));
    case HloOpcode::kOr:
      return SetResult(lowering, instruction, Elementwise(builder, "bitwise_or_fwd", operands));
    case HloOpcode::kXor:
      return SetResult(lowering, instruction, Elementwise(builder, "bitwise_xor_fwd", operands));
    default:
      break;
  }
  if (instruction.shape().element_type() == xla::PRED) {
    return SetResult(lowering, instruction, Not(builder, operands[0]));
  }
  return SetResult(lowering, instruction, Elementwise(builder, "bitwise_not_fwd", operands));
}

// Quotient or remainder of signed integers. HLO defines x / 0 = -1, x % 0 = x, MIN / -1 = MIN and MIN % -1 = 0.
absl::Status LowerIntegerDivision(Lowering& lowering, const HloInstruction& instruction, bool is_remainder) {
  PlanBuilder& builder = lowering.builder();
  if (IsUnsigned(instruction)) return absl::UnimplementedError("division of unsigned integers has no nodes");
  HPU_ASSIGN_OR_RETURN(std::vector<TensorId> operands, Operands(lowering, instruction));
  const synapse::synDataType type = builder.type(operands[0]);
  const size_t rank = builder.sizes(operands[0]).size();
  const int64_t min = std::numeric_limits<int64_t>::min() >> (64 - 8 * BytesOf(type));
  HPU_ASSIGN_OR_RETURN(const TensorId zero, IntegerScalar(builder, type, 0, rank));
  HPU_ASSIGN_OR_RETURN(const TensorId one, IntegerScalar(builder, type, 1, rank));
  HPU_ASSIGN_OR_RETURN(const TensorId minus_one, IntegerScalar(builder, type, -1, rank));
  HPU_ASSIGN_OR_RETURN(const TensorId smallest, IntegerScalar(builder, type, min, rank));
  HPU_ASSIGN_OR_RETURN(const TensorId is_zero, Compare(builder, "equal_fwd", operands[1], zero));
  HPU_ASSIGN_OR_RETURN(const TensorId is_smallest, Compare(builder, "equal_fwd", operands[0], smallest));
  HPU_ASSIGN_OR_RETURN(const TensorId is_minus_one, Compare(builder, "equal_fwd", operands[1], minus_one));
  HPU_ASSIGN_OR_RETURN(const TensorId overflows, Elementwise(builder, "bitwise_and_fwd", {is_smallest, is_minus_one}));
  HPU_ASSIGN_OR_RETURN(const TensorId is_special, Elementwise(builder, "bitwise_or_fwd", {is_zero, overflows}));
  HPU_ASSIGN_OR_RETURN(TensorId divisor, Where(builder, is_special, one, operands[1]));
  const Sizes sizes = SizesOf(instruction.shape());
  HPU_ASSIGN_OR_RETURN(const TensorId dividend, Broadcast(builder, operands[0], sizes));
  HPU_ASSIGN_OR_RETURN(divisor, Broadcast(builder, divisor, sizes));
  if (sizes.size() > 5) return absl::UnimplementedError("div_mod_fwd supports ranks up to 5");
  const synapse::ns_DivModKernel::Params params = {};
  HPU_ASSIGN_OR_RETURN(const std::vector<TensorId> results,
                       builder.AddNode(GuidOf("div_mod_fwd", type), {dividend, divisor}, {{type, sizes}, {type, sizes}},
                                       ParamsBytes(params)));
  return SetResult(
      lowering, instruction,
      is_remainder ? Where(builder, is_zero, operands[0], results[1]) : Where(builder, is_zero, minus_one, results[0]));
}

absl::Status LowerDivision(Lowering& lowering, const HloInstruction& instruction) {
  const bool is_remainder = instruction.opcode() == HloOpcode::kRemainder;
  if (!xla::primitive_util::IsFloatingPointType(instruction.shape().element_type())) {
    return LowerIntegerDivision(lowering, instruction, is_remainder);
  }
  HPU_ASSIGN_OR_RETURN(std::vector<TensorId> operands, Operands(lowering, instruction));
  return SetResult(lowering, instruction,
                   Elementwise(lowering.builder(), is_remainder ? "mod_fwd" : "div_fwd", std::move(operands)));
}

absl::StatusOr<TensorId> Shift(PlanBuilder& builder, TensorId x, TensorId count, bool left) {
  synapse::ns_BitShiftKernel::Params params = {};
  params.direction = left ? synapse::ns_BitShiftKernel::BIT_SHIFT_LEFT : synapse::ns_BitShiftKernel::BIT_SHIFT_RIGHT;
  return ElementwiseWithParams(builder, "bitshift_fwd", {x, count}, ParamsBytes(params));
}

// Counts of the width or more, which HLO reads as unsigned, shift out all bits. Kernels need counts below the width.
absl::Status LowerShift(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(const std::vector<TensorId> operands, Operands(lowering, instruction));
  const TensorId x = operands[0];
  const synapse::synDataType type = builder.type(x);
  const size_t rank = builder.sizes(x).size();
  const int64_t width = 8 * static_cast<int64_t>(BytesOf(type));
  HPU_ASSIGN_OR_RETURN(const TensorId zero, IntegerScalar(builder, type, 0, rank));
  HPU_ASSIGN_OR_RETURN(const TensorId last, IntegerScalar(builder, type, width - 1, rank));
  HPU_ASSIGN_OR_RETURN(const TensorId is_positive, Compare(builder, "greater_equal_fwd", operands[1], zero));
  HPU_ASSIGN_OR_RETURN(const TensorId is_small, Compare(builder, "less_equal_fwd", operands[1], last));
  HPU_ASSIGN_OR_RETURN(const TensorId is_inside, Elementwise(builder, "bitwise_and_fwd", {is_positive, is_small}));
  HPU_ASSIGN_OR_RETURN(const TensorId count, Where(builder, is_inside, operands[1], last));
  if (instruction.opcode() == HloOpcode::kShiftLeft) {
    HPU_ASSIGN_OR_RETURN(const TensorId shifted, Shift(builder, x, count, /*left=*/true));
    return SetResult(lowering, instruction, Where(builder, is_inside, shifted, zero));
  }
  HPU_ASSIGN_OR_RETURN(const TensorId shifted, Shift(builder, x, count, /*left=*/false));
  if (instruction.opcode() == HloOpcode::kShiftRightArithmetic) {
    if (type == synapse::syn_type_uint8) return absl::UnimplementedError("arithmetic shifts have no nodes for u8");
    return SetResult(lowering, instruction, shifted);
  }
  // Clears the copies of the sign: the complement of -1 << (width - 1 - count) << 1.
  HPU_ASSIGN_OR_RETURN(const TensorId ones, IntegerScalar(builder, type, -1, rank));
  HPU_ASSIGN_OR_RETURN(const TensorId rest, Elementwise(builder, "sub_fwd", {last, count}));
  HPU_ASSIGN_OR_RETURN(const TensorId high, Shift(builder, ones, rest, /*left=*/true));
  HPU_ASSIGN_OR_RETURN(const TensorId higher, ShiftBy(builder, high, 1, /*left=*/true));
  HPU_ASSIGN_OR_RETURN(const TensorId mask, Elementwise(builder, "bitwise_not_fwd", {higher}));
  HPU_ASSIGN_OR_RETURN(const TensorId logical, Elementwise(builder, "bitwise_and_fwd", {shifted, mask}));
  return SetResult(lowering, instruction, Where(builder, is_inside, logical, zero));
}

}  // namespace

void AddElementwise(LowerTable* table) {
  for (const HloOpcode opcode : {HloOpcode::kAdd,      HloOpcode::kSubtract,
                                 HloOpcode::kMultiply, HloOpcode::kPower,
                                 HloOpcode::kAtan2,    HloOpcode::kAbs,
                                 HloOpcode::kNegate,   HloOpcode::kCeil,
                                 HloOpcode::kFloor,    HloOpcode::kRoundNearestEven,
                                 HloOpcode::kExp,      HloOpcode::kExpm1,
                                 HloOpcode::kLog,      HloOpcode::kLog1p,
                                 HloOpcode::kSqrt,     HloOpcode::kRsqrt,
                                 HloOpcode::kSin,      HloOpcode::kCos,
                                 HloOpcode::kTan,      HloOpcode::kTanh,
                                 HloOpcode::kLogistic}) {
    (*table)[opcode] = LowerSimple;
  }
  for (const HloOpcode opcode : {HloOpcode::kAnd, HloOpcode::kOr, HloOpcode::kXor, HloOpcode::kNot}) {
    (*table)[opcode] = LowerLogical;
  }
  for (const HloOpcode opcode :
       {HloOpcode::kShiftLeft, HloOpcode::kShiftRightArithmetic, HloOpcode::kShiftRightLogical}) {
    (*table)[opcode] = LowerShift;
  }
  (*table)[HloOpcode::kCompare] = LowerCompare;
  (*table)[HloOpcode::kMaximum] = LowerExtremum;
  (*table)[HloOpcode::kMinimum] = LowerExtremum;
  (*table)[HloOpcode::kClamp] = LowerClamp;
  (*table)[HloOpcode::kSelect] = LowerSelect;
  (*table)[HloOpcode::kSign] = LowerSign;
  (*table)[HloOpcode::kRoundNearestAfz] = LowerRoundAfz;
  (*table)[HloOpcode::kCbrt] = LowerCbrt;
  (*table)[HloOpcode::kIsFinite] = LowerIsFinite;
  (*table)[HloOpcode::kDivide] = LowerDivision;
  (*table)[HloOpcode::kRemainder] = LowerDivision;
}

}  // namespace hpu::gaudi
