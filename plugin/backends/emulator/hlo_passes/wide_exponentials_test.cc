// Tests that exponentials of float64 do not call the C library and are exact to two units in the last place.
#include "plugin/backends/emulator/hlo_passes/wide_exponentials.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/literal_util.h"

namespace hpu::emulator {
namespace wide_exponentials_test {

using xla::XlaOp;
using Function = std::function<XlaOp(XlaOp)>;

xla::XlaComputation Program(const xla::Shape& shape, const Function& function) {
  xla::XlaBuilder builder("exponentials");
  xla::Tuple(&builder, {function(xla::Parameter(&builder, 0, shape, "x"))});
  return builder.Build().value();
}

int ExponentialsOf(const xla::HloModule& module) {
  int count = 0;
  for (const xla::HloComputation* computation : module.computations()) {
    for (const xla::HloInstruction* instruction : computation->instructions()) {
      count += instruction->opcode() == xla::HloOpcode::kExp;
    }
  }
  return count;
}

int LeftOf(const xla::XlaComputation& computation) {
  const std::unique_ptr<xla::HloModule> module = AfterXlaPasses(computation);
  EXPECT_GT(ExponentialsOf(*module), 0);
  EXPECT_TRUE(ExpandWideExponentials(module.get()).ok());
  return ExponentialsOf(*module);
}

std::vector<double> Arguments() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> numbers = {0.0,    -0.0,    1.0,     -1.0,    1e-300,  -1e-17,    kInfinity, -kInfinity,
                                 709.78, 709.79,  -708.39, -708.40, -745.13, -745.14,   -1e300,    1e300,
                                 0.3465, 0.34658, -0.3466, 30.5,    NAN,     709.08957, 710.0,     -746.0};
  std::minstd_rand random(1);
  std::uniform_real_distribution<double> wide(-750, 712), narrow(-2, 2);
  while (numbers.size() < 3000) numbers.push_back(wide(random));
  while (numbers.size() < 6000) numbers.push_back(narrow(random));
  return numbers;
}

void ExpectExponentials(const Function& function, double factor) {
  const std::vector<double> x = Arguments();
  const xla::Literal argument = xla::LiteralUtil::CreateR1<double>(x);
  const xla::XlaComputation computation = Program(argument.shape(), function);
  EXPECT_EQ(LeftOf(computation), 0);
  std::vector<xla::Literal> arguments;
  arguments.push_back(argument.Clone());
  const std::vector<double> results = ElementsOf<double>(ResultOf(computation, arguments));
  ASSERT_EQ(results.size(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const double of_x = static_cast<double>(std::exp(static_cast<long double>(x[i]))), expected = of_x * factor;
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(results[i])) << x[i];
    } else if (std::isinf(expected) || expected == 0) {
      EXPECT_EQ(results[i], expected) << x[i];
    } else if (expected < std::numeric_limits<double>::min()) {
      EXPECT_TRUE(results[i] == 0 || std::abs(results[i] - expected) <= 0x1p-1073) << x[i];  // may be flushed
    } else {
      EXPECT_LE(std::abs(results[i] - expected), 0x1p-51 * expected) << x[i];
    }
  }
}

TEST(WideExponentials, Alone) {
  ExpectExponentials([](XlaOp x) { return xla::Exp(x); }, 1);
}

TEST(WideExponentials, InsideALoop) {
  ExpectExponentials([](XlaOp x) { return xla::Exp(xla::Neg(xla::Neg(x))) * xla::FullLike(x, 0.5); }, 0.5);
}

TEST(WideExponentials, OfManyElementsByThreads) {
  const xla::XlaComputation computation =
      Program(xla::ShapeUtil::MakeShape(xla::F64, {300, 2000}), [](XlaOp x) { return xla::Exp(x); });
  EXPECT_EQ(LeftOf(computation), 0);
  const std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  const std::vector<double> results = ElementsOf<double>(ResultOf(computation, arguments));
  const auto x = arguments[0].data<double>();
  ASSERT_EQ(results.size(), x.size());
  for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(results[i], std::exp(x[i]), 1e-15) << i;
}

TEST(WideExponentials, OfArraysWithoutElements) {
  const xla::XlaComputation computation =
      Program(xla::ShapeUtil::MakeShape(xla::F64, {0, 3}), [](XlaOp x) { return xla::Exp(x); });
  EXPECT_EQ(ResultOf(computation, ArgumentsOf(computation)), "");
}

TEST(WideExponentials, LeavesUnsupportedUnchanged) {
  EXPECT_EQ(LeftOf(Program(xla::ShapeUtil::MakeShape(xla::F64, {}), [](XlaOp x) { return xla::Exp(x); })), 1);
  EXPECT_EQ(LeftOf(Program(xla::ShapeUtil::MakeShape(xla::F32, {50}), [](XlaOp x) { return xla::Exp(x) * x; })), 1);
}

}  // namespace wide_exponentials_test
}  // namespace hpu::emulator
