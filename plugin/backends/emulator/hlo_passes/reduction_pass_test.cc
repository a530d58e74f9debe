// Sums and maxima over rows, against XLA.
#include "plugin/backends/emulator/hlo_passes/reduction_pass.h"

#include <gtest/gtest.h>

#include <limits>

#include "plugin/backends/emulator/hlo_passes/kernel_harness.h"
#include "plugin/backends/emulator/recipe_harness.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"
#include "xla/client/xla_builder.h"

namespace hpu::emulator {
namespace {

using xla::XlaOp;

enum class Function { kSum, kSumOfSquares, kSumOfProducts, kMax };

xla::XlaComputation Reduction(const std::vector<int64_t>& dims, const std::vector<int64_t>& reduced,
                              Function function) {
  xla::XlaBuilder builder("reduction");
  const xla::Shape shape = xla::ShapeUtil::MakeShape(xla::F32, dims);
  XlaOp x = xla::Parameter(&builder, 0, shape, "x");
  const bool max = function == Function::kMax;
  if (function == Function::kSumOfSquares) x = x * x;
  if (function == Function::kSumOfProducts) x = x * xla::Parameter(&builder, 1, shape, "y");
  const XlaOp initial = max ? xla::MinValue(&builder, xla::F32) : xla::Zero(&builder, xla::F32);
  const xla::XlaComputation combine =
      max ? xla::CreateScalarMaxComputation(xla::F32, &builder) : xla::CreateScalarAddComputation(xla::F32, &builder);
  xla::Tuple(&builder, {xla::Reduce(x, initial, combine, reduced)});
  return builder.Build().value();
}

constexpr Function kFunctions[] = {Function::kSum, Function::kSumOfSquares, Function::kSumOfProducts, Function::kMax};

struct Case {
  std::vector<int64_t> dims;
  std::vector<int64_t> reduced;
};

class ReductionPassTest : public testing::TestWithParam<Case> {};

TEST_P(ReductionPassTest, EqualsXla) {
  // XLA's own code adds all elements one after the other, which loses more than rows do.
  const double tolerance = GetParam().reduced.size() == GetParam().dims.size() ? 1e-4 : 1e-5;
  for (const Function function : kFunctions) {
    const xla::XlaComputation computation = Reduction(GetParam().dims, GetParam().reduced, function);
    ExpectSameWithKernels(computation, ArgumentsOf(computation), 1, function == Function::kMax ? 0 : tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ReductionPassTest,
                         testing::Values(Case{{1024, 8}, {0}}, Case{{1, 8192}, {0}}, Case{{3, 2731}, {0}},
                                         Case{{5000, 17}, {0}}, Case{{70, 3000}, {0}}, Case{{9, 13, 7, 33}, {0, 1, 2}},
                                         Case{{9, 13, 7, 33}, {2, 0, 1}}, Case{{9, 13, 7, 33}, {1, 2}},
                                         Case{{9, 13, 7, 33}, {0, 1}}, Case{{50, 40, 9}, {1}}, Case{{2, 4, 4100}, {1}},
                                         Case{{1 << 17}, {0}}, Case{{64, 64, 32}, {0, 1, 2}},
                                         Case{{9, 13, 7, 80}, {0, 1, 2, 3}}));

class LongRowsTest : public testing::TestWithParam<Case> {};

TEST_P(LongRowsTest, SumsEqualXla) {
  for (const Function function : {Function::kSum, Function::kSumOfSquares, Function::kSumOfProducts}) {
    const xla::XlaComputation computation = Reduction(GetParam().dims, GetParam().reduced, function);
    ExpectSameWithKernels(computation, ArgumentsOf(computation), 1, 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, LongRowsTest,
                         testing::Values(Case{{2, 8192}, {1}}, Case{{3, 96, 96, 3}, {1, 2, 3}},
                                         Case{{2, 3, 40, 8, 32}, {3, 2, 4}}, Case{{1, 70000}, {1}}));

TEST(ReductionPass, MaximaOfSpecialNumbers) {
  const xla::XlaComputation computation = Reduction({2000, 16}, {0}, Function::kMax);
  std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (int64_t row = 0; row < 2000; ++row) arguments[0].Set<float>({row, 0}, -kInfinity);
  arguments[0].Set<float>({700, 1}, std::numeric_limits<float>::quiet_NaN());
  arguments[0].Set<float>({3, 2}, kInfinity);
  ExpectSameAsEvaluator(computation, arguments, 1, 0);
}

TEST(ReductionPass, LeavesTheRest) {
  const auto kernels = [](const Case& c) { return KernelsOf(Reduction(c.dims, c.reduced, Function::kSum)).size(); };
  EXPECT_EQ(kernels({{1024, 8}, {1}}), 0) << "rows";
  EXPECT_EQ(kernels({{91, 91}, {0, 1}}), 0) << "everything, not to be cut in rows";
  EXPECT_EQ(kernels({{65, 8192}, {1}}), 0) << "many rows";
  EXPECT_EQ(kernels({{2, 8191}, {1}}), 0) << "rows that are not to be cut";
  EXPECT_EQ(kernels({{1000, 8}, {0, 1}}), 0) << "everything, few elements";
  EXPECT_EQ(kernels({{32, 8, 32, 8}, {0, 2}}), 0) << "dimensions apart";
  EXPECT_EQ(kernels({{10, 8}, {0}}), 0) << "few elements";
  EXPECT_EQ(kernels({{9000, 2}, {0}}), 0) << "few columns";
  EXPECT_EQ(kernels({{0, 9000}, {0}}), 0) << "no elements";
}

}  // namespace
}  // namespace hpu::emulator
