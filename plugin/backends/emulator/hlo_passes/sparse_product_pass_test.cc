// Tests of products with sparse constant matrices against XLA.
#include "plugin/backends/emulator/hlo_passes/sparse_product_pass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "plugin/backends/emulator/kernels/sparse_product.h"
#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/array2d.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu::emulator {
namespace sparse_product_pass_test {

using xla::XlaOp;

struct Case {
  std::vector<int64_t> dims;
  int64_t dimension = 0;  // contracted dimension of the array
  int64_t to = 1;
  int64_t entries = 2;      // maximum number of entries in a row of the matrix
  bool transposed = false;  // the matrix is [from, to]
  xla::PrimitiveType type = xla::F32;
};

XlaOp Matrix(xla::XlaBuilder* builder, const Case& c, Dice* dice) {
  const int64_t from = c.dims[c.dimension];
  xla::Array2D<float> matrix(c.transposed ? from : c.to, c.transposed ? c.to : from);
  matrix.Fill(0);
  for (int64_t row = 0; row < c.to; ++row) {
    for (int64_t i = from == 0 ? 0 : dice->Roll(0, c.entries); i > 0; --i) {
      const int64_t at = dice->Roll(0, from - 1);
      (c.transposed ? matrix(at, row) : matrix(row, at)) = static_cast<float>(dice->Roll(1, 100)) / 64;
    }
  }
  return xla::ConvertElementType(xla::ConstantR2FromArray2D(builder, matrix), c.type);
}

XlaOp Product(xla::XlaBuilder* builder, const Case& c, XlaOp x, Dice* dice) {
  xla::DotDimensionNumbers numbers;
  numbers.add_lhs_contracting_dimensions(c.transposed ? 0 : 1);
  numbers.add_rhs_contracting_dimensions(c.dimension);
  const XlaOp product = xla::DotGeneral(Matrix(builder, c, dice), x, numbers);
  std::vector<int64_t> order(c.dims.size());
  for (int64_t i = 0; i < static_cast<int64_t>(order.size()); ++i) {
    order[i] = i < c.dimension ? i + 1 : i == c.dimension ? 0 : i;
  }
  return c.dimension == 0 ? product : xla::Transpose(product, order);
}

xla::XlaComputation Product(const Case& c, uint32_t seed = 0) {
  xla::XlaBuilder builder("product");
  Dice dice(seed);
  const XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(c.type, c.dims), "x");
  xla::Tuple(&builder, {Product(&builder, c, x, &dice)});
  return builder.Build().value();
}

class SparseProductPassTest : public testing::TestWithParam<int> {};

TEST_P(SparseProductPassTest, EqualsXla) {
  Dice dice(GetParam());
  Case c;
  c.type = GetParam() % 2 == 0 ? xla::F32 : xla::F64;
  for (int64_t rank = dice.Roll(1, 4); rank > 0; --rank) c.dims.push_back(dice.Roll(1, 9));
  c.dimension = dice.Roll(0, c.dims.size() - 1);
  c.dims[c.dimension] = dice.Roll(8, 40);
  c.to = dice.Roll(1, 60);
  c.entries = dice.Roll(0, 4);
  c.transposed = dice.Roll(0, 1) == 0;
  int64_t elements = c.to;
  for (int64_t i = 0; i < static_cast<int64_t>(c.dims.size()); ++i) elements *= i == c.dimension ? 1 : c.dims[i];
  // Adds a first or a last dimension, so that the result has at least 4096 elements.
  const bool front = dice.Roll(0, 1) == 0;
  c.dims.insert(front ? c.dims.begin() : c.dims.end(), (4096 + elements - 1) / elements);
  if (front) ++c.dimension;
  SCOPED_TRACE(testing::PrintToString(c.dims));
  const xla::XlaComputation computation = Product(c, GetParam());
  ExpectSameWithKernels(computation, ArgumentsOf(computation), 1, c.type == xla::F32 ? 1e-6 : 1e-14);
}

INSTANTIATE_TEST_SUITE_P(Random, SparseProductPassTest, testing::Range(0, 30));

// Weights that the program computes, as in the lowering of resizing.
TEST(SparseProductPass, OfComputedWeights) {
  xla::XlaBuilder builder("product");
  const XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::F32, {12, 200}), "x");
  const xla::Shape shape = xla::ShapeUtil::MakeShape(xla::F32, {24, 12});
  const XlaOp distance =
      xla::Abs(xla::Iota(&builder, shape, 0) * xla::ScalarLike(x, 0.5f) - xla::Iota(&builder, shape, 1));
  xla::Tuple(&builder, {xla::Dot(xla::Max(xla::ScalarLike(distance, 1) - distance, xla::ZerosLike(distance)), x)});
  const xla::XlaComputation computation = builder.Build().value();
  ExpectSameWithKernels(computation, ArgumentsOf(computation), 1, 1e-6);
}

// Both directions of an image in one kernel.
TEST(SparseProductPass, OfTwoDimensions) {
  for (uint32_t seed = 0; seed < 8; ++seed) {
    Dice dice(seed);
    xla::XlaBuilder builder("product");
    Case c{{dice.Roll(1, 3), dice.Roll(8, 20), dice.Roll(8, 20), dice.Roll(5, 40)}};
    XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::F32, c.dims), "x");
    for (c.dimension = 1; c.dimension <= 2; ++c.dimension) {
      c.to = dice.Roll(30, 40);
      c.entries = seed < 4 ? 1 : 4;
      x = Product(&builder, c, x, &dice);
      c.dims[c.dimension] = c.to;
    }
    xla::Tuple(&builder, {x});
    const xla::XlaComputation computation = builder.Build().value();
    SCOPED_TRACE(seed);
    ExpectSameWithKernels(computation, ArgumentsOf(computation), 1, 1e-6);
  }
}

SparseMatrix RandomMatrix(int64_t rows, int64_t columns, Dice* dice) {
  SparseMatrix matrix;
  matrix.rows.resize(rows);
  for (std::vector<SparseMatrix::Entry>& row : matrix.rows) {
    for (int64_t i = dice->Roll(0, 3); i > 0; --i) {
      row.push_back({dice->Roll(0, columns - 1), static_cast<float>(dice->Roll(1, 64)) / 64});
    }
  }
  return matrix;
}

// Columns narrower than a register, against plain loops. Memory around the arrays is neither read nor written.
TEST(SparseProductPass, ShortColumns) {
  constexpr int64_t kOuter = 3, kHeight = 5, kWidth = 6, kToHeight = 7, kToWidth = 8, kAround = 64;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (int64_t inner = 1; inner <= 17; ++inner) {
    Dice dice(inner);
    const SparseProduct product{
        kOuter, kHeight, kWidth, inner, RandomMatrix(kToHeight, kHeight, &dice), RandomMatrix(kToWidth, kWidth, &dice)};
    std::vector<float> from(kOuter * kHeight * kWidth * inner + 2 * kAround, nan);
    std::vector<float> to(kOuter * kToHeight * kToWidth * inner + 2 * kAround, -1);
    for (size_t i = kAround; i < from.size() - kAround; ++i) from[i] = static_cast<float>(dice.Roll(-64, 64)) / 8;
    const void* operand = from.data() + kAround;
    void* result = to.data() + kAround;
    auto kernel = MakeKernel(product.Spec());
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    ComputePool pool(2);
    ASSERT_TRUE((*kernel)->Run({&operand, &result, nullptr, pool}).ok());
    int64_t at = 0;
    for (; at < kAround; ++at) EXPECT_EQ(to[at], -1);
    for (int64_t line = 0; line < kOuter * kToHeight; ++line) {
      for (int64_t i = 0; i < kToWidth * inner; ++i, ++at) {
        float sum = 0;
        for (const SparseMatrix::Entry& column : product.horizontal.rows[i / inner]) {
          for (const SparseMatrix::Entry& row : product.vertical.rows[line % kToHeight]) {
            const int64_t from_line = line / kToHeight * kHeight + row.column;
            sum +=
                column.weight * row.weight * from[kAround + (from_line * kWidth + column.column) * inner + i % inner];
          }
        }
        ASSERT_NEAR(to[at], sum, 1e-4) << inner << " numbers, line " << line << ", number " << i;
      }
    }
    for (; at < static_cast<int64_t>(to.size()); ++at) EXPECT_EQ(to[at], -1);
  }
}

// Tests long and short columns.
TEST(SparseProductPass, UnreadElementsDoNotCount) {
  for (const int64_t inner : {64, 3}) {
    const SparseMatrix matrix{{{{1, 0.5f}, {2, 2.0f}}, {}, {{3, 1.0f}}}};
    for (const SparseProduct& product :
         {SparseProduct{1, 5, 1, inner, matrix, {}}, SparseProduct{1, 1, 5, inner, {}, matrix}}) {
      auto kernel = MakeKernel(product.Spec());
      ASSERT_TRUE(kernel.ok()) << kernel.status();
      std::vector<float> from(5 * inner, std::numeric_limits<float>::infinity()), to(3 * inner, -1);
      for (const int64_t row : {1, 2, 3}) std::fill_n(from.begin() + row * inner, inner, static_cast<float>(row));
      const void* operand = from.data();
      void* result = to.data();
      ComputePool pool(2);
      ASSERT_TRUE((*kernel)->Run({&operand, &result, nullptr, pool}).ok());
      for (int64_t i = 0; i < inner; ++i) {
        EXPECT_EQ(to[i], 4.5f);
        EXPECT_EQ(to[inner + i], 0.0f);
        EXPECT_EQ(to[2 * inner + i], 3.0f);
      }
    }
  }
}

TEST(SparseProductPass, RefusesOtherParameters) {
  SparseProduct product{1, 5, 3, 1, {{{{1, 0.5f}}, {{4, 2.0f}}}}, {{{{2, 1.0f}}}}};
  const KernelSpec spec = product.Spec();
  EXPECT_TRUE(MakeKernel(spec).ok());
  for (size_t size = 0; size < spec.parameters.size(); ++size) {
    KernelSpec shorter = spec;
    shorter.parameters.resize(size);
    EXPECT_FALSE(MakeKernel(shorter).ok()) << size;
  }
  product.vertical.rows[1][0].column = 5;
  EXPECT_FALSE(MakeKernel(product.Spec()).ok()) << "beyond the array";
}

TEST(SparseProductPass, LeavesUnsupportedUnchanged) {
  const auto kernels = [](const Case& c) {
    const std::vector<KernelSpec> specs = KernelsOf(Product(c));
    return std::count_if(specs.begin(), specs.end(),
                         [](const KernelSpec& s) { return s.name == SparseProduct().Spec().name; });
  };
  EXPECT_EQ(kernels({{4, 20, 80}, 1, 40}), 1);
  EXPECT_EQ(kernels({{4, 20, 80}, 1, 40, 60}), 0) << "a dense matrix";
  EXPECT_EQ(kernels({{0, 20, 80}, 1, 40}), 0) << "no elements";
  EXPECT_EQ(kernels({{4, 0, 80}, 1, 40}), 0) << "no contracted elements";
  EXPECT_EQ(kernels({{1}, 0, 1}), 0) << "one element";
  EXPECT_EQ(kernels({{4, 20, 8}, 1, 40}), 0) << "few elements";
  EXPECT_EQ(kernels({{4, 20, 80}, 1, 40, 2, false, xla::F16}), 0) << "float16";
}

}  // namespace sparse_product_pass_test
}  // namespace hpu::emulator
