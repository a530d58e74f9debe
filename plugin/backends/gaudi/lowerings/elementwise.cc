// Lowerings of elementwise instructions.
#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/gaudi/lowerings/elementwise_operands.h"
#include "plugin/backends/gaudi/lowerings/integers.h"
#include "plugin/backends/gaudi/lowerings/lowerings.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/version/contact.h"
#include "xla/literal.h"
#include "xla/primitive_util.h"

namespace hpu::gaudi {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// The kernel that computes an opcode by itself. Empty if there is none.
absl::string_view KernelOf(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kAdd:
      return "add_fwd";
    case HloOpcode::kSubtract:
      return "sub_fwd";
    case HloOpcode::kMultiply:
      return "mult_fwd";
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

absl::Status LowerKernel(Lowering& lowering, const HloInstruction& instruction, absl::string_view stem) {
  HPU_ASSIGN_OR_RETURN(std::vector<TensorId> operands, ElementwiseOperands(lowering, instruction));
  return SetElementwiseResult(lowering, instruction, Elementwise(lowering.builder(), stem, std::move(operands)));
}

absl::Status LowerSimple(Lowering& lowering, const HloInstruction& instruction) {
  return LowerKernel(lowering, instruction, KernelOf(instruction.opcode()));
}

// Sums and products of booleans are their disjunctions and conjunctions.
absl::Status LowerSum(Lowering& lowering, const HloInstruction& instruction) {
  const bool is_boolean = instruction.shape().element_type() == xla::PRED;
  return LowerKernel(lowering, instruction, is_boolean ? "bitwise_or_fwd" : KernelOf(instruction.opcode()));
}

absl::Status LowerProduct(Lowering& lowering, const HloInstruction& instruction) {
  const bool is_boolean = instruction.shape().element_type() == xla::PRED;
  return LowerKernel(lowering, instruction, is_boolean ? "bitwise_and_fwd" : KernelOf(instruction.opcode()));
}

absl::Status LowerCompare(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(std::vector<TensorId> operands, ElementwiseOperands(lowering, instruction));
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
      return SetElementwiseResult(lowering, instruction, compare("equal_fwd"));
    case xla::ComparisonDirection::kNe: {
      HPU_ASSIGN_OR_RETURN(const TensorId equal, compare("equal_fwd"));
      return SetElementwiseResult(lowering, instruction, Not(builder, equal));
    }
    case xla::ComparisonDirection::kLt:
      return SetElementwiseResult(lowering, instruction, compare("less_fwd"));
    case xla::ComparisonDirection::kLe:
      return SetElementwiseResult(lowering, instruction, compare("less_equal_fwd"));
    case xla::ComparisonDirection::kGt:
      return SetElementwiseResult(lowering, instruction, compare("greater_fwd"));
    case xla::ComparisonDirection::kGe:
      return SetElementwiseResult(lowering, instruction, compare("greater_equal_fwd"));
  }
  return absl::InternalError(
      absl::StrCat("unknown comparison direction: ", static_cast<int>(direction), "; " HPU_REPORT_BUG));
}

// Follows broadcasts and reshapes to the instruction that computes the elements.
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
  if (source->opcode() != HloOpcode::kConstant || source->shape().dimensions_size() != 0) return true;
  return std::isnan(source->literal().GetAsDouble({}).value_or(std::nan("")));
}

// An operand of max_fwd or min_fwd.
struct Comparable {
  TensorId id = kNoTensor;
  bool may_be_nan = true;
};

// max_fwd or min_fwd. HLO returns NaN if an operand is NaN; what the kernels return is not known.
absl::StatusOr<Comparable> Extremum(PlanBuilder& builder, absl::string_view stem, const Comparable& a,
                                    const Comparable& b) {
  HPU_ASSIGN_OR_RETURN(TensorId value, Elementwise(builder, stem, {a.id, b.id}));
  for (const Comparable& operand : {b, a}) {
    if (!operand.may_be_nan) continue;
    HPU_ASSIGN_OR_RETURN(const TensorId is_number, Compare(builder, "equal_fwd", operand.id, operand.id));
    HPU_ASSIGN_OR_RETURN(value, Where(builder, is_number, value, operand.id));
  }
  return Comparable{value, a.may_be_nan || b.may_be_nan};
}

// Operands for the kernels' signed comparisons. U32 and U64 operands have the sign bit flipped.
absl::StatusOr<std::vector<Comparable>> Comparables(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(const std::vector<TensorId> operands, ElementwiseOperands(lowering, instruction));
  std::vector<Comparable> comparables;
  for (int64_t i = 0; i < instruction.operand_count(); ++i) {
    Comparable operand = {operands[i], MayBeNan(instruction.operand(i))};
    if (HasHiddenSign(instruction)) {
      HPU_ASSIGN_OR_RETURN(operand.id, FlipSign(builder, operand.id));
    }
    comparables.push_back(operand);
  }
  return comparables;
}

// Inverse of Comparables for the result.
absl::Status SetExtremum(Lowering& lowering, const HloInstruction& instruction, TensorId value) {
  return SetElementwiseResult(
      lowering, instruction,
      HasHiddenSign(instruction) ? FlipSign(lowering.builder(), value) : absl::StatusOr<TensorId>(value));
}

absl::Status LowerExtremum(Lowering& lowering, const HloInstruction& instruction) {
  HPU_ASSIGN_OR_RETURN(const std::vector<Comparable> operands, Comparables(lowering, instruction));
  const absl::string_view stem = instruction.opcode() == HloOpcode::kMaximum ? "max_fwd" : "min_fwd";
  HPU_ASSIGN_OR_RETURN(const Comparable value, Extremum(lowering.builder(), stem, operands[0], operands[1]));
  return SetExtremum(lowering, instruction, value.id);
}

// clamp(low, x, high)
absl::Status LowerClamp(Lowering& lowering, const HloInstruction& instruction) {
  HPU_ASSIGN_OR_RETURN(const std::vector<Comparable> operands, Comparables(lowering, instruction));
  HPU_ASSIGN_OR_RETURN(const Comparable raised, Extremum(lowering.builder(), "max_fwd", operands[1], operands[0]));
  HPU_ASSIGN_OR_RETURN(const Comparable value, Extremum(lowering.builder(), "min_fwd", raised, operands[2]));
  return SetExtremum(lowering, instruction, value.id);
}

absl::Status LowerSelect(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(std::vector<TensorId> operands, ElementwiseOperands(lowering, instruction));
  const size_t rank = SizesOf(instruction.shape()).size();
  if (builder.sizes(operands[0]).size() != rank) {
    HPU_ASSIGN_OR_RETURN(operands[0], Reshape(builder, operands[0], Sizes(rank, 1)));
  }
  return SetElementwiseResult(lowering, instruction, Where(builder, operands[0], operands[1], operands[2]));
}

// -1, 0 or 1. NaN and zeros keep their bits; the kernel may not guarantee this.
absl::Status LowerSign(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(const TensorId x, lowering.Broadcastable(instruction.operand(0)));
  HPU_ASSIGN_OR_RETURN(const TensorId sign, Elementwise(builder, "sign_fwd", {x}));
  if (!IsFloat(builder.type(x))) return SetElementwiseResult(lowering, instruction, sign);
  HPU_ASSIGN_OR_RETURN(const TensorId zero, ScalarLike(builder, x, 0));
  HPU_ASSIGN_OR_RETURN(const TensorId is_negative, Compare(builder, "less_fwd", x, zero));
  HPU_ASSIGN_OR_RETURN(const TensorId is_positive, Compare(builder, "greater_fwd", x, zero));
  HPU_ASSIGN_OR_RETURN(const TensorId has_sign, Elementwise(builder, "bitwise_or_fwd", {is_negative, is_positive}));
  return SetElementwiseResult(lowering, instruction, Where(builder, has_sign, sign, x));
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
  return SetElementwiseResult(lowering, instruction, Where(builder, is_zero, x, with_sign));
}

// The power 1/3 of the magnitude, in float32, with the operand's sign. Zeros and NaN keep their value.
absl::Status LowerCbrt(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(const TensorId operand, lowering.Broadcastable(instruction.operand(0)));
  HPU_ASSIGN_OR_RETURN(const TensorId x, Cast(builder, operand, synapse::syn_type_float));
  HPU_ASSIGN_OR_RETURN(const TensorId magnitude, Elementwise(builder, "abs_fwd", {x}));
  HPU_ASSIGN_OR_RETURN(const TensorId third, ScalarLike(builder, x, 1.0 / 3));
  HPU_ASSIGN_OR_RETURN(const TensorId root, Elementwise(builder, "pow_fwd", {magnitude, third}));
  HPU_ASSIGN_OR_RETURN(const TensorId negated, Elementwise(builder, "neg_fwd", {root}));
  HPU_ASSIGN_OR_RETURN(const TensorId zero, ScalarLike(builder, x, 0));
  HPU_ASSIGN_OR_RETURN(const TensorId is_negative, Compare(builder, "less_fwd", x, zero));
  HPU_ASSIGN_OR_RETURN(const TensorId is_positive, Compare(builder, "greater_fwd", x, zero));
  HPU_ASSIGN_OR_RETURN(const TensorId positive, Where(builder, is_positive, root, x));
  HPU_ASSIGN_OR_RETURN(const TensorId value, Where(builder, is_negative, negated, positive));
  return SetElementwiseResult(lowering, instruction, Cast(builder, value, builder.type(operand)));
}

absl::Status LowerIsFinite(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(const TensorId x, lowering.Broadcastable(instruction.operand(0)));
  const Sizes sizes = builder.sizes(x);
  const Sizes flat = {ElementCount(sizes)};
  HPU_ASSIGN_OR_RETURN(const TensorId list, Reshape(builder, x, flat));
  HPU_ASSIGN_OR_RETURN(const TensorId is_finite,
                       builder.AddTyped("isfinite_fwd", builder.type(x), {list}, {synapse::syn_type_int8, flat}));
  return SetElementwiseResult(lowering, instruction, Reshape(builder, is_finite, sizes));
}

bool IsFloating(const HloInstruction& instruction) {
  return xla::primitive_util::IsFloatingPointType(instruction.shape().element_type());
}

// Masks are 0 or 1, so bitwise kernels compute logical operations.
absl::Status LowerLogical(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(const std::vector<TensorId> operands, ElementwiseOperands(lowering, instruction));
  switch (instruction.opcode()) {
    case HloOpcode::kAnd:
      return SetElementwiseResult(lowering, instruction, Elementwise(builder, "bitwise_and_fwd", operands));
    case HloOpcode::kOr:
      return SetElementwiseResult(lowering, instruction, Elementwise(builder, "bitwise_or_fwd", operands));
    case HloOpcode::kXor:
      return SetElementwiseResult(lowering, instruction, Elementwise(builder, "bitwise_xor_fwd", operands));
    default:
      break;
  }
  if (instruction.shape().element_type() == xla::PRED) {
    return SetElementwiseResult(lowering, instruction, Not(builder, operands[0]));
  }
  return SetElementwiseResult(lowering, instruction, Elementwise(builder, "bitwise_not_fwd", operands));
}

// Instructions with a separate lowering for integers.
absl::Status LowerDivide(Lowering& lowering, const HloInstruction& instruction) {
  return IsFloating(instruction) ? LowerKernel(lowering, instruction, "div_fwd")
                                 : LowerIntegerDivide(lowering, instruction);
}

absl::Status LowerRemainder(Lowering& lowering, const HloInstruction& instruction) {
  return IsFloating(instruction) ? LowerKernel(lowering, instruction, "mod_fwd")
                                 : LowerIntegerRemainder(lowering, instruction);
}

absl::Status LowerPower(Lowering& lowering, const HloInstruction& instruction) {
  return IsFloating(instruction) ? LowerKernel(lowering, instruction, "pow_fwd")
                                 : LowerIntegerPower(lowering, instruction);
}

}  // namespace

void AddElementwise(LowerTable* table) {
  for (const HloOpcode opcode :
       {HloOpcode::kSubtract, HloOpcode::kAbs, HloOpcode::kAtan2, HloOpcode::kNegate, HloOpcode::kCeil,
        HloOpcode::kFloor, HloOpcode::kRoundNearestEven, HloOpcode::kExp, HloOpcode::kExpm1, HloOpcode::kLog,
        HloOpcode::kLog1p, HloOpcode::kSqrt, HloOpcode::kRsqrt, HloOpcode::kSin, HloOpcode::kCos, HloOpcode::kTan,
        HloOpcode::kTanh, HloOpcode::kLogistic}) {
    (*table)[opcode] = LowerSimple;
  }
  for (const HloOpcode opcode : {HloOpcode::kAnd, HloOpcode::kOr, HloOpcode::kXor, HloOpcode::kNot}) {
    (*table)[opcode] = LowerLogical;
  }
  (*table)[HloOpcode::kAdd] = LowerSum;
  (*table)[HloOpcode::kMultiply] = LowerProduct;
  (*table)[HloOpcode::kCompare] = LowerCompare;
  (*table)[HloOpcode::kMaximum] = LowerExtremum;
  (*table)[HloOpcode::kMinimum] = LowerExtremum;
  (*table)[HloOpcode::kClamp] = LowerClamp;
  (*table)[HloOpcode::kSelect] = LowerSelect;
  (*table)[HloOpcode::kSign] = LowerSign;
  (*table)[HloOpcode::kRoundNearestAfz] = LowerRoundAfz;
  (*table)[HloOpcode::kCbrt] = LowerCbrt;
  (*table)[HloOpcode::kIsFinite] = LowerIsFinite;
  (*table)[HloOpcode::kDivide] = LowerDivide;
  (*table)[HloOpcode::kRemainder] = LowerRemainder;
  (*table)[HloOpcode::kPower] = LowerPower;
}

}  // namespace hpu::gaudi
