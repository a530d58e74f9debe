#include "plugin/backends/emulator/hlo_passes/complex_parts_pass.h"

#include <algorithm>
#include <cmath>

#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "plugin/base/status_macros.h"
#include "xla/literal_util.h"
#include "xla/primitive_util.h"
#include "xla/service/hlo_creation_utils.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

bool IsComplex(const HloInstruction* instruction) {
  const xla::Shape& shape = instruction->shape();
  return xla::primitive_util::IsComplexType(shape.element_type()) && shape.is_static();
}

// Whether all elements are +0. With -0 as a divisor's part, zeros of the quotient would have other signs.
bool IsPositiveZero(const HloInstruction* value) {
  while (value->opcode() == HloOpcode::kBroadcast || value->opcode() == HloOpcode::kReshape) value = value->operand(0);
  if (!value->IsConstant()) return false;
  const char* bytes = static_cast<const char*>(value->literal().untyped_data());
  return std::all_of(bytes, bytes + value->literal().size_bytes(), [](char byte) { return byte == 0; });
}

HloInstruction* PartOf(HloInstruction* number, HloOpcode part) {
  const xla::Shape shape = xla::ShapeUtil::ComplexComponentShape(number->shape());
  return number->parent()->AddInstruction(HloInstruction::CreateUnary(shape, part, number));
}

template <typename T>
HloInstruction* RealConstant(HloInstruction* number) {
  if (number->shape().dimensions_size() != 0) return nullptr;
  const T value = number->literal().Get<T>({});
  if (value.imag() != 0 || std::signbit(value.imag())) return nullptr;
  return number->parent()->AddInstruction(HloInstruction::CreateConstant(xla::LiteralUtil::CreateR0(value.real())));
}

// The real part of a complex number; null if the imaginary part may differ from +0.
absl::StatusOr<HloInstruction*> RealNumberOf(HloInstruction* number) {
  switch (number->opcode()) {
    case HloOpcode::kComplex:
      return IsPositiveZero(number->operand(1)) ? number->mutable_operand(0) : nullptr;
    case HloOpcode::kConvert: {
      HloInstruction* const from = number->mutable_operand(0);
      HPU_ASSIGN_OR_RETURN(HloInstruction* const real, IsComplex(from) ? RealNumberOf(from) : from);
      if (real == nullptr) return nullptr;
      return Converted(real, xla::primitive_util::ComplexComponentType(number->shape().element_type()));
    }
    case HloOpcode::kConstant:
      return number->shape().element_type() == xla::C64 ? RealConstant<xla::complex64>(number)
                                                        : RealConstant<xla::complex128>(number);
    case HloOpcode::kBroadcast: {
      HPU_ASSIGN_OR_RETURN(HloInstruction* const real, RealNumberOf(number->mutable_operand(0)));
      if (real == nullptr) return nullptr;
      return xla::MakeBroadcastHlo(real, number->dimensions(), number->shape().dimensions());
    }
    case HloOpcode::kReshape: {
      HPU_ASSIGN_OR_RETURN(HloInstruction* const real, RealNumberOf(number->mutable_operand(0)));
      if (real == nullptr) return nullptr;
      return xla::MakeReshapeHlo(number->shape().dimensions(), real);
    }
    default:
      return nullptr;
  }
}

// -0 for each negative number, 0 for every other number.
absl::StatusOr<HloInstruction*> ZeroOverEach(HloInstruction* numbers) {
  HloInstruction* const zero = xla::MakeScalarLike(numbers, 0.0);
  HPU_ASSIGN_OR_RETURN(HloInstruction* const negative,
                       xla::MakeCompareHlo(xla::ComparisonDirection::kLt, numbers, zero));
  return xla::MakeSelectHlo(negative, xla::MakeScalarLike(numbers, -0.0), zero);
}

absl::StatusOr<HloInstruction*> QuotientOfParts(HloInstruction* quotient) {
  if (!IsComplex(quotient)) return nullptr;
  HPU_ASSIGN_OR_RETURN(HloInstruction* const divisor, RealNumberOf(quotient->mutable_operand(1)));
  if (divisor == nullptr) return nullptr;
  HPU_ASSIGN_OR_RETURN(HloInstruction* const none, ZeroOverEach(divisor));
  HloInstruction* const dividend = quotient->mutable_operand(0);
  HPU_ASSIGN_OR_RETURN(HloInstruction* const by_zero,
                       xla::MakeCompareHlo(xla::ComparisonDirection::kEq, divisor, xla::MakeScalarLike(divisor, 0.0)));
  HloInstruction *const a = PartOf(dividend, HloOpcode::kReal), *const b = PartOf(dividend, HloOpcode::kImag);
  // Computes one part of the quotient. First adds or subtracts the other part times the ratio of the divisor's parts,
  // `none`. The ratio is zero, so its product with an infinity or NaN is NaN. Skips this step if the divisor is zero.
  const auto part = [&](HloInstruction* own, HloOpcode add, HloInstruction* other) -> absl::StatusOr<HloInstruction*> {
    HPU_ASSIGN_OR_RETURN(HloInstruction* const taken, xla::MakeBinaryHlo(HloOpcode::kMultiply, other, none));
    HPU_ASSIGN_OR_RETURN(HloInstruction* const sum, xla::MakeBinaryHlo(add, own, taken));
    HPU_ASSIGN_OR_RETURN(HloInstruction* const divided, xla::MakeSelectHlo(by_zero, own, sum));
    return xla::MakeBinaryHlo(HloOpcode::kDivide, divided, divisor);
  };
  HPU_ASSIGN_OR_RETURN(HloInstruction* const real, part(a, HloOpcode::kAdd, b));
  HPU_ASSIGN_OR_RETURN(HloInstruction* const imaginary, part(b, HloOpcode::kSubtract, a));
  return xla::MakeBinaryHlo(HloOpcode::kComplex, real, imaginary);
}

absl::StatusOr<HloInstruction*> ChoiceOfParts(HloInstruction* choice) {
  if (!IsComplex(choice)) return nullptr;
  const auto part = [choice](HloOpcode which) {
    return xla::MakeSelectHlo(choice->mutable_operand(0), PartOf(choice->mutable_operand(1), which),
                              PartOf(choice->mutable_operand(2), which));
  };
  HPU_ASSIGN_OR_RETURN(HloInstruction* const real, part(HloOpcode::kReal));
  HPU_ASSIGN_OR_RETURN(HloInstruction* const imaginary, part(HloOpcode::kImag));
  return xla::MakeBinaryHlo(HloOpcode::kComplex, real, imaginary);
}

}  // namespace

absl::Status ComputeComplexParts(xla::HloModule* module) {
  HPU_RETURN_IF_ERROR(ReplaceAll(module, HloOpcode::kDivide, QuotientOfParts));
  return ReplaceAll(module, HloOpcode::kSelect, ChoiceOfParts);
}

}  // namespace hpu::emulator
