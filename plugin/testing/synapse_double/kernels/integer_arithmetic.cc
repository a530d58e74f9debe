// Division with remainder, bits and shifts.
//
// A card's result is unknown for a division by 0, for the smallest integer divided by -1, and for shifts by the width
// or more. In these cases, the kernels return values that differ from HLO's, so that tests find a missing select.
#include <cmath>

#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/kernels/elementwise.h"
#include "plugin/testing/synapse_double/kernels/families.h"

namespace hpu::synapse_double {
namespace {

template <typename T>
constexpr T kUndefined = static_cast<T>(0x5555555555555555);

bool RequireInteger(KernelContext* context) {
  for (size_t i = 0; i < context->input_count(); ++i) {
    if (!context->Require(!IsFloat(context->input(i).type), "input ", i, ": expected an integer type, found ",
                          SuffixOf(context->input(i).type))) {
      return false;
    }
  }
  return true;
}

// The smallest value of a signed type; 0 if the type is unsigned.
template <typename T>
T SmallestOf(ElementType type) {
  return IsUnsigned(type) ? T{0} : static_cast<T>(-(int64_t{1} << (BytesOf(type) * 8 - 2)) * 2);
}

template <typename T>
bool IsDefined(T a, T b, T smallest) {
  return b != 0 && !(std::is_signed_v<T> && a == smallest && b == static_cast<T>(-1));
}

template <typename T>
T FloorQuotient(T a, T b) {
  return static_cast<T>(a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0));
}

// Quotient and remainder. Truncates, or floors with isPyCompatible.
void DivMod(KernelContext& context) {
  Sizes sizes;
  if (!RequireInteger(&context) || !BroadcastSizes(&context, 0, 2, &sizes)) return;
  if (!context.RequireSizes(context.output(1), sizes, "output 1")) return;
  const bool floors = context.params<synapse::ns_DivModKernel::Params>().isPyCompatible;
  WithComputeType(ComputeTypeOf(context, 0, 2), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      const DenseArray<T> a = LoadBroadcast<T>(context, 0, sizes);
      const DenseArray<T> b = LoadBroadcast<T>(context, 1, sizes);
      const T smallest = SmallestOf<T>(context.input(0).type);
      DenseArray<T> quotient(sizes, kUndefined<T>);
      DenseArray<T> remainder(sizes, kUndefined<T>);
      for (int64_t i = 0; i < a.count(); ++i) {
        if (!IsDefined(a[i], b[i], smallest)) continue;
        quotient[i] = floors ? FloorQuotient(a[i], b[i]) : static_cast<T>(a[i] / b[i]);
        remainder[i] = SubtractWrapped(a[i], MultiplyWrapped(quotient[i], b[i]));
      }
      Store(quotient, context.output(0));
      Store(remainder, context.output(1));
    }
  });
}

double FloorModulo(double a, double b) {
  const double remainder = std::fmod(a, b);
  return remainder != 0 && std::signbit(remainder) != std::signbit(b) ? remainder + b : remainder;
}

template <typename Float, typename Integer>
void DivideEach(KernelContext& context, const Float& float_op, const Integer& integer_op) {
  const ElementType type = context.input(0).type;
  ComputeBinary(context, [&](auto a, auto b) {
    using T = decltype(a);
    if constexpr (std::is_integral_v<T>) {
      return IsDefined(a, b, SmallestOf<T>(type)) ? static_cast<T>(integer_op(a, b)) : kUndefined<T>;
    } else {
      return float_op(a, b);
    }
  });
}

// The remainder has the sign of the dividend.
void Modulo(KernelContext& context) {
  DivideEach(context, [](double a, double b) { return std::fmod(a, b); }, [](auto a, auto b) { return a % b; });
}

// The remainder has the sign of the divisor.
void Remainder(KernelContext& context) {
  DivideEach(context, FloorModulo,
             [](auto a, auto b) { return SubtractWrapped(a, MultiplyWrapped(FloorQuotient(a, b), b)); });
}

void FloorDivide(KernelContext& context) {
  DivideEach(
      context, [](double a, double b) { return std::floor(a / b); },
      [](auto a, auto b) { return FloorQuotient(a, b); });
}

template <typename Op>
void ComputeBits(KernelContext& context, const Op& op) {
  if (!RequireInteger(&context)) return;
  ComputeBinary(context, [&](auto a, auto b) -> decltype(a) {
    if constexpr (std::is_integral_v<decltype(a)>) {
      return static_cast<decltype(a)>(op(a, b));
    } else {
      return a;
    }
  });
}

void BitwiseAnd(KernelContext& context) {
  ComputeBits(context, [](auto a, auto b) { return a & b; });
}

void BitwiseOr(KernelContext& context) {
  ComputeBits(context, [](auto a, auto b) { return a | b; });
}

void BitwiseXor(KernelContext& context) {
  ComputeBits(context, [](auto a, auto b) { return a ^ b; });
}

void BitwiseNot(KernelContext& context) {
  if (!RequireInteger(&context)) return;
  ComputeUnary(context, [](auto a) -> decltype(a) {
    if constexpr (std::is_integral_v<decltype(a)>) {
      return ~a;
    } else {
      return a;
    }
  });
}

// The distance counts modulo the width. A right shift is arithmetic for signed types.
void BitShift(KernelContext& context) {
  const auto direction = context.params<synapse::ns_BitShiftKernel::Params>().direction;
  if (!context.Require(direction == synapse::ns_BitShiftKernel::BIT_SHIFT_LEFT ||
                           direction == synapse::ns_BitShiftKernel::BIT_SHIFT_RIGHT,
                       "unknown direction ", direction)) {
    return;
  }
  const auto width = static_cast<int64_t>(8 * BytesOf(context.input(0).type));
  ComputeBits(context, [&](auto a, auto b) {
    const auto distance = static_cast<uint64_t>(b) % static_cast<uint64_t>(width);
    if (direction == synapse::ns_BitShiftKernel::BIT_SHIFT_RIGHT) return static_cast<uint64_t>(a >> distance);
    return static_cast<uint64_t>(a) << distance;
  });
}

}  // namespace

void AddIntegerArithmetic(KernelRegistry* registry) {
  const auto add = [&](const char* stem, Kernel kernel) {
    registry->Add({stem, Suffix::kType, {2, 2}, {1, 1}, {0}, kernel});
  };
  add("bitwise_and_fwd", BitwiseAnd);
  add("bitwise_or_fwd", BitwiseOr);
  add("bitwise_xor_fwd", BitwiseXor);
  add("floor_divide_fwd", FloorDivide);
  add("mod_fwd", Modulo);
  add("rem_fwd", Remainder);
  registry->Add({"bitwise_not_fwd", Suffix::kType, {1, 1}, {1, 1}, {0}, BitwiseNot});
  registry->Add(
      {"bitshift_fwd", Suffix::kType, {2, 2}, {1, 1}, {sizeof(synapse::ns_BitShiftKernel::Params)}, BitShift});
  registry->Add({"div_mod_fwd", Suffix::kType, {2, 2}, {2, 2}, {sizeof(synapse::ns_DivModKernel::Params)}, DivMod});
}

}  // namespace hpu::synapse_double
