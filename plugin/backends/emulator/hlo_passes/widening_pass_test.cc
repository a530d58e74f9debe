// Tests that sums of bfloat16 equal sums of float32 that are rounded once.
#include "plugin/backends/emulator/hlo_passes/widening_pass.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/comparators.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu::emulator {
namespace widening_pass_test {

using xla::XlaBuilder;
using xla::XlaOp;

struct Case {
  std::string name;
  std::vector<std::vector<int64_t>> operands;
  std::function<XlaOp(const std::vector<XlaOp>&, xla::PrimitiveType)> sum;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

// Arguments and result are of bfloat16; with `wide`, the sum is written in float32.
xla::XlaComputation Program(const Case& c, bool wide) {
  XlaBuilder builder("sum");
  std::vector<XlaOp> operands;
  for (size_t i = 0; i < c.operands.size(); ++i) {
    const XlaOp operand =
        xla::Parameter(&builder, i, xla::ShapeUtil::MakeShape(xla::BF16, c.operands[i]), absl::StrCat("x", i));
    operands.push_back(wide ? xla::ConvertElementType(operand, xla::F32) : operand);
  }
  const XlaOp sum = c.sum(operands, wide ? xla::F32 : xla::BF16);
  xla::Tuple(&builder, {wide ? xla::ConvertElementType(sum, xla::BF16) : sum});
  return builder.Build().value();
}

std::vector<std::string> KernelNamesOf(const xla::XlaComputation& computation) {
  std::vector<std::string> names;
  for (const KernelSpec& spec : KernelsOf(computation)) names.push_back(spec.name);
  return names;
}

class WideningPassTest : public testing::TestWithParam<Case> {};

TEST_P(WideningPassTest, RoundsOnce) {
  const xla::XlaComputation narrow = Program(GetParam(), false), wide = Program(GetParam(), true);
  const std::vector<xla::Literal> arguments = ArgumentsOf(narrow);
  const std::string got = ResultOf(narrow, arguments);
  EXPECT_TRUE(got == ResultOf(wide, arguments)) << "bits differ from the float32 program's";
  EXPECT_EQ(KernelNamesOf(narrow), KernelNamesOf(wide));  // one may read bfloat16, the other float32
}

XlaOp Sum(XlaOp x, xla::PrimitiveType type, const std::vector<int64_t>& dimensions) {
  return xla::Reduce(x, xla::Zero(x.builder(), type), xla::CreateScalarAddComputation(type, x.builder()), dimensions);
}

XlaOp ScatterAdd(XlaOp x, XlaOp updates, xla::PrimitiveType type) {
  xla::ScatterDimensionNumbers numbers;
  numbers.add_update_window_dims(1);
  numbers.add_inserted_window_dims(0);
  numbers.add_scatter_dims_to_operand_dims(0);
  numbers.set_index_vector_dim(1);
  const XlaOp rows = xla::Rem(xla::Iota(x.builder(), xla::S32, 200), xla::ConstantR0<int32_t>(x.builder(), 3));
  return xla::Scatter(x, rows, updates, xla::CreateScalarAddComputation(type, x.builder()), numbers);
}

XlaOp MaxGradient(XlaOp image, XlaOp dy, xla::PrimitiveType type) {
  XlaBuilder* builder = image.builder();
  return xla::SelectAndScatter(image, xla::CreateScalarGeComputation(type, builder), {1, 3, 3, 1}, {1, 1, 1, 1},
                               xla::Padding::kSame, dy, xla::Zero(builder, type),
                               xla::CreateScalarAddComputation(type, builder));
}

XlaOp BatchedProduct(XlaOp a, XlaOp b) {
  xla::DotDimensionNumbers numbers;
  numbers.add_lhs_batch_dimensions(0);
  numbers.add_rhs_batch_dimensions(0);
  numbers.add_lhs_contracting_dimensions(2);
  numbers.add_rhs_contracting_dimensions(1);
  return xla::DotGeneral(a, b, numbers);
}

INSTANTIATE_TEST_SUITE_P(
    Sums, WideningPassTest,
    testing::Values(
        Case{"small product", {{7, 300}, {300, 5}}, [](const auto& x, auto) { return xla::Dot(x[0], x[1]); }},
        Case{"product of a transposition, transposed",
             {{300, 7}, {300, 5}},
             [](const auto& x, auto) { return xla::Transpose(xla::Dot(xla::Transpose(x[0], {1, 0}), x[1]), {1, 0}); }},
        Case{"products of many matrices",
             {{16, 32, 64}, {16, 64, 32}},
             [](const auto& x, auto) { return BatchedProduct(x[0], x[1]); }},
        Case{"no product", {{0, 300}, {300, 5}}, [](const auto& x, auto) { return xla::Dot(x[0], x[1]); }},
        Case{"product of single elements", {{1, 1}, {1, 1}}, [](const auto& x, auto) { return xla::Dot(x[0], x[1]); }},
        Case{"sum of columns", {{500, 64}}, [](const auto& x, auto type) { return Sum(x[0], type, {0}); }},
        Case{"sum of rows", {{3, 500}}, [](const auto& x, auto type) { return Sum(x[0], type, {1}); }},
        Case{"product of columns",
             {{500, 64}},
             [](const auto& x, auto type) {
               return xla::Reduce(x[0] * xla::ScalarLike(x[0], 2), xla::One(x[0].builder(), type),
                                  xla::CreateScalarMultiplyComputation(type, x[0].builder()), {0});
             }},
        Case{"average pooling",
             {{2, 9, 9, 8}},
             [](const auto& x, auto type) {
               return xla::ReduceWindow(x[0], xla::Zero(x[0].builder(), type),
                                        xla::CreateScalarAddComputation(type, x[0].builder()), {1, 3, 3, 1},
                                        {1, 2, 2, 1}, xla::Padding::kSame);
             }},
        Case{"scatter", {{3, 8}, {200, 8}}, [](const auto& x, auto type) { return ScatterAdd(x[0], x[1], type); }},
        Case{"gradient of max pooling",
             {{2, 9, 9, 8}, {2, 9, 9, 8}},
             [](const auto& x, auto type) { return MaxGradient(x[0], x[1], type); }},
        Case{"few features", {{2, 9, 9, 2}, {2, 9, 9, 2}}, [](const auto& x, auto type) {
               return MaxGradient(x[0], x[1], type);
             }}));

// Rounded products whose operands are not bfloat16.
TEST(WideningPass, TransposesRoundedProductsOfOtherTypes) {
  for (const xla::PrimitiveType type : {xla::F16, xla::F32, xla::F64, xla::S32}) {
    SCOPED_TRACE(xla::PrimitiveType_Name(type));
    XlaBuilder builder("transposed");
    const XlaOp a = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(type, {7, 30}), "a");
    const XlaOp b = xla::Parameter(&builder, 1, xla::ShapeUtil::MakeShape(type, {30, 5}), "b");
    const XlaOp rounded = xla::ConvertElementType(xla::Dot(a, b), xla::BF16);
    xla::Tuple(&builder, {xla::Transpose(rounded, {1, 0})});
    const xla::XlaComputation computation = builder.Build().value();
    ExpectSameAsEvaluator(computation, ArgumentsOf(computation), 0, 1e-2);
  }
}

// Instructions without additions stay in bfloat16, because they lose no precision.
TEST(WideningPass, LeavesUnsupportedUnchanged) {
  XlaBuilder builder("maximum");
  const XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::BF16, {20, 30}), "x");
  xla::Tuple(&builder, {xla::Reduce(xla::Transpose(x, {1, 0}), xla::MinValue(&builder, xla::BF16),
                                    xla::CreateScalarMaxComputation(xla::BF16, &builder), {0})});
  const std::unique_ptr<xla::HloModule> module = ModuleOf(builder.Build().value());
  const std::string before = module->ToString();
  ASSERT_TRUE(WidenSums(module.get()).ok());
  EXPECT_EQ(module->ToString(), before);
}

}  // namespace widening_pass_test
}  // namespace hpu::emulator
