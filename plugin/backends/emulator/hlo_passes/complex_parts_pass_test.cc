#include "plugin/backends/emulator/hlo_passes/complex_parts_pass.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/literal_util.h"
#include "xla/primitive_util.h"

namespace hpu::emulator {
namespace complex_parts_pass_test {

using xla::XlaOp;

constexpr int64_t kRows = 5, kColumns = 37;
const std::vector<int64_t> kShape = {kRows, kColumns};

// A complex function of two arrays of real numbers; returns the real parts, then the imaginary parts, of its result.
xla::XlaComputation Program(xla::PrimitiveType real, const std::function<XlaOp(XlaOp, XlaOp)>& function) {
  xla::XlaBuilder builder("complex");
  const xla::Shape shape = xla::ShapeUtil::MakeShape(real, kShape);
  const XlaOp a = xla::Parameter(&builder, 0, shape, "a"), b = xla::Parameter(&builder, 1, shape, "b");
  const XlaOp result = function(a, b);
  xla::Tuple(&builder, {xla::ConcatInDim(&builder, {xla::Real(result), xla::Imag(result)}, 0)});
  return builder.Build().value();
}

XlaOp ZeroLike(XlaOp a) { return xla::FullLike(a, 0); }

// Number of complex quotients and selects that the pass leaves.
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
  Expect([](XlaOp a, XlaOp b) { return xla::Complex(a, b) / xla::Complex(b, ZeroLike(b)); }, 0);
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

// Quotients by zero. The first program is the gradient of an absolute value.
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

// Compares values, signs of zeros and NaN, but skips quotients whose parts are both NaN, which XLA recomputes.
template <typename T>
void ExpectQuotientsOfSpecialNumbers() {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const std::vector<T> special = {-2, T(-0.0), 0, 3, kInfinity, -kInfinity, std::numeric_limits<T>::quiet_NaN()};
  std::vector<T> columns[3];
  for (const T real : special) {
    for (const T imaginary : special) {
      for (const T divisor : special) {
        columns[0].push_back(real);
        columns[1].push_back(imaginary);
        columns[2].push_back(divisor);
      }
    }
  }
  xla::XlaBuilder builder("special");
  std::vector<xla::Literal> arguments;
  std::vector<XlaOp> numbers;
  for (const std::vector<T>& column : columns) {
    arguments.push_back(xla::LiteralUtil::CreateR1<T>(column));
    numbers.push_back(xla::Parameter(&builder, numbers.size(), arguments.back().shape(), "numbers"));
  }
  const XlaOp quotient = xla::Complex(numbers[0], numbers[1]) / xla::Complex(numbers[2], ZeroLike(numbers[2]));
  xla::Tuple(&builder, {xla::ConcatInDim(&builder, {xla::Real(quotient), xla::Imag(quotient)}, 0)});
  const xla::XlaComputation computation = builder.Build().value();
  ASSERT_EQ(LeftOf(computation), 0);
  const std::vector<T> parts = ElementsOf<T>(ResultOf(computation, arguments));
  const std::vector<T> expected = ElementsOf<T>(RunJit(computation, arguments)[0]);
  const size_t count = columns[0].size();
  ASSERT_EQ(parts.size(), 2 * count);
  size_t compared = 0;
  for (size_t i = 0; i < 2 * count; ++i) {
    const size_t number = i % count;
    if (std::isnan(parts[number]) && std::isnan(parts[count + number])) continue;
    ++compared;
    const bool same = parts[i] == expected[i] && std::signbit(parts[i]) == std::signbit(expected[i]);
    EXPECT_TRUE(same || (std::isnan(parts[i]) && std::isnan(expected[i])))
        << columns[0][number] << " + " << columns[1][number] << "i by " << columns[2][number] << ": part " << i / count
        << " is " << parts[i] << ", but " << expected[i] << " by XLA";
  }
  EXPECT_GT(compared, count / 2);
}

TEST_P(ComplexPartsTest, SignsOfZerosAndNan) {
  GetParam() == xla::F64 ? ExpectQuotientsOfSpecialNumbers<double>() : ExpectQuotientsOfSpecialNumbers<float>();
}

TEST_P(ComplexPartsTest, LeavesUnsupportedUnchanged) {
  Expect([](XlaOp a, XlaOp b) { return xla::Complex(a, b) / xla::Complex(b, a); }, 1);
  for (const float imaginary : {1e-3f, -0.0f}) {
    Expect([=](XlaOp a, XlaOp b) { return xla::Complex(a, b) / xla::Complex(b, xla::FullLike(b, imaginary)); }, 1);
  }
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

}  // namespace complex_parts_pass_test
}  // namespace hpu::emulator
