#include "plugin/backends/emulator/hlo_passes/complex_parts_pass.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <type_traits>

#include "plugin/backends/emulator/hlo_passes/kernel_harness.h"
#include "plugin/backends/emulator/recipe_harness.h"
#include "xla/client/lib/constants.h"
#include "xla/client/xla_builder.h"
#include "xla/primitive_util.h"

namespace hpu::emulator {
namespace {

using xla::XlaOp;

constexpr int64_t kRows = 5, kColumns = 37;
const std::vector<int64_t> kShape = {kRows, kColumns};

// Of real numbers, from two arrays of them: both parts of the complex result, one after the other.
xla::XlaComputation Program(xla::PrimitiveType real, const std::function<XlaOp(XlaOp, XlaOp)>& function) {
  xla::XlaBuilder builder("complex");
  const xla::Shape shape = xla::ShapeUtil::MakeShape(real, kShape);
  const XlaOp a = xla::Parameter(&builder, 0, shape, "a"), b = xla::Parameter(&builder, 1, shape, "b");
  const XlaOp result = function(a, b);
  xla::Tuple(&builder, {xla::ConcatInDim(&builder, {xla::Real(result), xla::Imag(result)}, 0)});
  return builder.Build().value();
}

XlaOp ZeroLike(XlaOp a, float zero = 0) { return xla::FullLike(a, zero); }

// Complex quotients and choices that are left after the pass.
int LeftOf(const xla::XlaComputation& computation) {
  const std::unique_ptr<xla::HloModule> module = ModuleOf(computation);
  EXPECT_TRUE(ComputeComplexParts(module.get()).ok());
  int left = 0;
  for (const xla::HloComputation* one : module->computations()) {
    for (const xla::HloInstruction* instruction : one->instructions()) {
      const bool has =
          instruction->opcode() == xla::HloOpcode::kDivide || instruction->opcode() == xla::HloOpcode::kSelect;
      if (has && xla::primitive_util::IsComplexType(instruction->shape().element_type())) ++left;
    }
  }
  return left;
}

class ComplexPartsTest : public testing::TestWithParam<xla::PrimitiveType> {
 protected:
  void Expect(const std::function<XlaOp(XlaOp, XlaOp)>& function, int left) {
    const xla::XlaComputation computation = Program(GetParam(), function);
    EXPECT_EQ(LeftOf(computation), left);
    ExpectSameAsXla(computation, ArgumentsOf(computation), 0);
  }
  xla::PrimitiveType complex() const { return GetParam() == xla::F64 ? xla::C128 : xla::C64; }
};

TEST_P(ComplexPartsTest, QuotientsByRealNumbers) {
  for (const float zero : {0.0f, -0.0f}) {
    Expect([zero](XlaOp a, XlaOp b) { return xla::Complex(a, b) / xla::Complex(b, ZeroLike(b, zero)); }, 0);
  }
  Expect([this](XlaOp a, XlaOp b) { return xla::Complex(a, b) / xla::ConvertElementType(b, complex()); }, 0);
}

TEST_P(ComplexPartsTest, QuotientsByOneNumber) {
  const auto by = [this](xla::complex64 divisor) {
    return [this, divisor](XlaOp a, XlaOp b) {
      const XlaOp one = xla::ConstantR0(a.builder(), divisor);
      return xla::Complex(a, b) / xla::Broadcast(xla::ConvertElementType(one, complex()), kShape);
    };
  };
  const auto constant = [this](XlaOp a, XlaOp b) {
    const XlaOp one = xla::FullLike(xla::Complex(a, b), 1024);
    return xla::Complex(a, b) / one;
  };
  Expect(constant, 0);
  if (complex() == xla::C64) {
    Expect(by({-3, 0}), 0);
    Expect(by({3, 1}), 1);
  }
}

TEST_P(ComplexPartsTest, QuotientsByRowsOfRealNumbers) {
  Expect(
      [](XlaOp a, XlaOp b) {
        const XlaOp row = xla::SliceInDim(b, 0, 1, 1, 0);
        const XlaOp divisors = xla::Reshape(xla::Complex(row, ZeroLike(row)), {kColumns});
        return xla::Complex(a, b) / xla::BroadcastInDim(divisors, kShape, {1});
      },
      0);
}

TEST_P(ComplexPartsTest, Choices) {
  Expect(
      [](XlaOp a, XlaOp b) {
        return xla::Select(xla::Lt(a, b), xla::Complex(a, b), xla::Complex(b, a) * xla::Complex(a, b));
      },
      0);
}

// The gradient of an absolute value.
TEST_P(ComplexPartsTest, DividesByZeroOrGivesZero) {
  Expect(
      [](XlaOp a, XlaOp b) {
        const XlaOp x = xla::Complex(a, b) - xla::Complex(a, xla::Max(b, ZeroLike(b)));
        const XlaOp divisor = xla::Complex(xla::Abs(x), ZeroLike(a));
        return xla::Select(xla::Eq(divisor, xla::ZerosLike(divisor)), xla::ZerosLike(divisor), x / divisor);
      },
      0);
  Expect([](XlaOp a, XlaOp b) { return xla::Complex(a, b) / xla::Complex(b - b, ZeroLike(b)); }, 0);
}

// What is no number stays in its part.
TEST_P(ComplexPartsTest, KeepsTheOtherPart) {
  const xla::XlaComputation computation = Program(GetParam(), [](XlaOp a, XlaOp b) {
    return xla::Complex(a / ZeroLike(a), b) / xla::Complex(xla::FullLike(b, 2), ZeroLike(b));
  });
  const std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  const std::string result = ResultOf(computation, arguments);
  const auto expect = [&](const auto& parts, const auto& b) {
    using T = std::decay_t<decltype(parts[0])>;
    ASSERT_EQ(parts.size(), 2 * kRows * kColumns);
    for (int64_t i = 0; i < kRows * kColumns; ++i) {
      EXPECT_FALSE(std::isfinite(parts[i])) << i;
      EXPECT_EQ(parts[kRows * kColumns + i], b[i] / T{2}) << i;
    }
  };
  if (GetParam() == xla::F64) {
    expect(ElementsOf<double>(result), arguments[1].data<double>());
  } else {
    expect(ElementsOf<float>(result), arguments[1].data<float>());
  }
}

TEST_P(ComplexPartsTest, LeavesTheRest) {
  Expect([](XlaOp a, XlaOp b) { return xla::Complex(a, b) / xla::Complex(b, a); }, 1);
  Expect([](XlaOp a, XlaOp b) { return xla::Complex(a, b) / xla::Complex(b, xla::FullLike(b, 1e-3)); }, 1);
  EXPECT_EQ(LeftOf(Program(GetParam(), [](XlaOp a, XlaOp b) { return xla::Complex(a / b, b); })), 0);
}

INSTANTIATE_TEST_SUITE_P(Types, ComplexPartsTest, testing::Values(xla::F32, xla::F64));

TEST(ComplexParts, OfArraysWithoutElements) {
  xla::XlaBuilder builder("empty");
  const XlaOp a = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::F32, {0, 3}), "a");
  const XlaOp quotient = xla::Complex(a, a) / xla::Complex(a, ZeroLike(a));
  xla::Tuple(&builder, {xla::Real(quotient)});
  const xla::XlaComputation computation = builder.Build().value();
  ExpectSameAsXla(computation, ArgumentsOf(computation), 0);
}

}  // namespace
}  // namespace hpu::emulator
