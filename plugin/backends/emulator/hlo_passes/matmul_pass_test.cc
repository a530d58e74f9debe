// Tests of matrix products against XLA.
#include "plugin/backends/emulator/hlo_passes/matmul_pass.h"

#include <gtest/gtest.h>

#include <vector>

#include "plugin/backends/emulator/kernels/matmul.h"
#include "plugin/backends/emulator/kernels/one_dnn.h"
#include "plugin/backends/emulator/kernels/vectorize.h"
#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu::emulator {
namespace matmul_pass_test {

struct Case {
  std::vector<int64_t> a;
  std::vector<int64_t> b;
  std::vector<int64_t> contracted_a;
  std::vector<int64_t> contracted_b;
  std::vector<int64_t> batch = {};
};

xla::XlaComputation Product(const Case& c, xla::PrimitiveType type) {
  xla::XlaBuilder builder("product");
  const xla::XlaOp a = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(type, c.a), "a");
  const xla::XlaOp b = xla::Parameter(&builder, 1, xla::ShapeUtil::MakeShape(type, c.b), "b");
  xla::DotDimensionNumbers numbers;
  for (int64_t i : c.contracted_a) numbers.add_lhs_contracting_dimensions(i);
  for (int64_t i : c.contracted_b) numbers.add_rhs_contracting_dimensions(i);
  for (int64_t i : c.batch) {
    numbers.add_lhs_batch_dimensions(i);
    numbers.add_rhs_batch_dimensions(i);
  }
  xla::Tuple(&builder, {xla::DotGeneral(a, b, numbers)});
  return builder.Build().value();
}

size_t KernelsOfProduct(const Case& c, xla::PrimitiveType type) { return KernelsOf(Product(c, type)).size(); }

void ExpectRandomProductsEqualXla(uint32_t seeds, const std::vector<xla::PrimitiveType>& types) {
  for (uint32_t seed = 0; seed < seeds; ++seed) {
    Dice dice(seed);
    const xla::PrimitiveType type = types[dice.Roll(0, types.size() - 1)];
    const bool first_a = dice.Roll(0, 1) == 0, first_b = dice.Roll(0, 1) == 0;
    // One or two kept dimensions per operand, and one or two contracted dimensions.
    const auto side = [&dice](int64_t size) {
      return dice.Roll(0, 1) == 0 ? std::vector<int64_t>{size} : std::vector<int64_t>{dice.Roll(1, 3), size};
    };
    const std::vector<int64_t> inner = side(dice.Roll(90, 200)), rows = side(dice.Roll(110, 200));
    const std::vector<int64_t> columns = side(dice.Roll(110, 200));
    const auto join = [&inner](const std::vector<int64_t>& kept, bool first, std::vector<int64_t>* contracted) {
      std::vector<int64_t> dims = first ? inner : kept;
      const std::vector<int64_t>& rest = first ? kept : inner;
      const int64_t begin = first ? 0 : static_cast<int64_t>(kept.size());
      for (size_t i = 0; i < inner.size(); ++i) contracted->push_back(begin + static_cast<int64_t>(i));
      dims.insert(dims.end(), rest.begin(), rest.end());
      return dims;
    };
    Case c;
    c.a = join(rows, first_a, &c.contracted_a);
    c.b = join(columns, first_b, &c.contracted_b);
    const xla::XlaComputation computation = Product(c, type);
    SCOPED_TRACE(seed);
    ExpectSameWithKernels(computation, ArgumentsOf(computation), 1, type == xla::F32 ? 1e-5 : 1e-2);
  }
}

TEST(MatMulPass, RandomProducts) {
  if (!HasProductKernels()) GTEST_SKIP() << kNoProductKernels;
  ExpectRandomProductsEqualXla(40, {xla::F32, xla::BF16});
}

TEST(MatMulPass, RandomProductsByBfloat16Instructions) {
  if (!HasProductKernels() || !HasAvx512()) GTEST_SKIP() << "bfloat16 kernels require oneDNN and AVX-512";
  const PretendedBfloat16Instructions pretended;
  ASSERT_TRUE((MatMul{.bfloat16 = true, .rows = 128, .inner = 128, .columns = 128}.Spec() ==
               KernelsOf(Product({{128, 128}, {128, 128}, {1}, {0}}, xla::BF16)).at(0)));
  ExpectRandomProductsEqualXla(20, {xla::BF16});
}

TEST(MatMulPass, ReplacesSmallerTransposedProductsOfBfloat16) {
  if (!HasProductKernels() || !HasAvx512()) GTEST_SKIP() << "bfloat16 kernels require oneDNN and AVX-512";
  const PretendedBfloat16Instructions pretended;
  const Case transposed = {{16, 256}, {64, 256}, {1}, {1}};
  EXPECT_EQ(KernelsOfProduct(transposed, xla::BF16), 1);
  EXPECT_EQ(KernelsOfProduct(transposed, xla::F32), 0);
  EXPECT_EQ(KernelsOfProduct({{16, 256}, {256, 64}, {1}, {0}}, xla::BF16), 0) << "no operand transposed";
  EXPECT_EQ(KernelsOfProduct({{256, 16}, {64, 256}, {0}, {1}}, xla::BF16), 0) << "both transposed";
  EXPECT_EQ(KernelsOfProduct({{15, 256}, {64, 256}, {1}, {1}}, xla::BF16), 0) << "too few multiplications";
  const xla::XlaComputation computation = Product(transposed, xla::BF16);
  ExpectSameWithKernels(computation, ArgumentsOf(computation), 1, 1e-2);
}

// The gradient of an einsum's weights: [tokens, heads, size] and [tokens, width] to [heads, size, width], transposed.
xla::XlaComputation TransposedProduct(const std::vector<int64_t>& order) {
  xla::XlaBuilder builder("transposed");
  const xla::XlaOp dy = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::F32, {128, 4, 32}), "dy");
  const xla::XlaOp x = xla::Parameter(&builder, 1, xla::ShapeUtil::MakeShape(xla::F32, {128, 96}), "x");
  xla::DotDimensionNumbers numbers;
  numbers.add_lhs_contracting_dimensions(0);
  numbers.add_rhs_contracting_dimensions(0);
  // Reshaped to one dimension, because the builder changes the layout of a transpose.
  xla::Tuple(&builder, {xla::Reshape(xla::Transpose(xla::DotGeneral(dy, x, numbers), order), {4 * 32 * 96})});
  return builder.Build().value();
}

TEST(MatMulPass, FoldsTransposesThatSwapTheOperands) {
  if (!HasProductKernels()) GTEST_SKIP() << kNoProductKernels;
  const std::vector<KernelSpec> exchanged = KernelsOf(TransposedProduct({2, 0, 1}));
  ASSERT_EQ(exchanged.size(), 1);
  EXPECT_TRUE(exchanged[0] == (MatMul{false, true, false, 96, 128, 128}).Spec());
  const std::vector<KernelSpec> other = KernelsOf(TransposedProduct({1, 0, 2}));
  ASSERT_EQ(other.size(), 1);
  EXPECT_TRUE(other[0] == (MatMul{false, true, false, 128, 128, 96}).Spec());
  for (const std::vector<int64_t>& order : {std::vector<int64_t>{2, 0, 1}, {1, 0, 2}, {1, 2, 0}}) {
    const xla::XlaComputation computation = TransposedProduct(order);
    ExpectSameWithKernels(computation, ArgumentsOf(computation), 1, 1e-5);
  }
}

TEST(MatMulPass, LeavesUnsupportedUnchanged) {
  EXPECT_EQ(KernelsOfProduct({{20, 20}, {20, 20}, {0}, {0}}, xla::F32), 0) << "few multiplications";
  EXPECT_EQ(KernelsOfProduct({{9000, 1}, {9000, 200}, {0}, {0}}, xla::F32), 0) << "a vector";
  EXPECT_EQ(KernelsOfProduct({{9000000}, {9000000}, {0}, {0}}, xla::BF16), 0) << "two vectors";
  EXPECT_EQ(KernelsOfProduct({{0, 200}, {0, 200}, {0}, {0}}, xla::F32), 0) << "no elements";
  EXPECT_EQ(KernelsOfProduct({{1, 1}, {1, 1}, {0}, {0}}, xla::BF16), 0) << "one element";
  EXPECT_EQ(KernelsOfProduct({{1, 200, 200}, {1, 200, 200}, {1}, {1}, {0}}, xla::F32), 0) << "a batch of one";
  EXPECT_EQ(KernelsOfProduct({{90, 200, 90}, {90, 90, 200}, {0, 2}, {0, 1}}, xla::F32), 0) << "dimensions apart";
  EXPECT_EQ(KernelsOfProduct({{90, 90, 200}, {90, 90, 200}, {1, 0}, {1, 0}}, xla::F32), 0)
      << "contracted dimensions in another order";
}

}  // namespace matmul_pass_test
}  // namespace hpu::emulator
