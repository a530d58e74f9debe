// Tests that elementwise loops of every shape share functions, and compute the same bytes as XLA's own executable.
#include "plugin/backends/emulator/codegen/object/row_programs.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/backends/emulator/codegen/compiler.h"
#include "plugin/testing/cts/fixture.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu::emulator {
namespace row_programs_test {

using xla::XlaBuilder;
using xla::XlaOp;

xla::Shape Array(xla::PrimitiveType type, std::vector<int64_t> dims) { return xla::ShapeUtil::MakeShape(type, dims); }

// Shapes below one vector, around one row, and large enough for several threads.
const std::vector<std::vector<int64_t>>& Shapes() {
  static const auto* shapes = new std::vector<std::vector<int64_t>>{
      {2},  {7},    {5, 24},    {1023},     {1024},         {1025},      {4, 1},
      {32}, {9, 9}, {100, 129}, {2, 3, 48}, {1, 300, 1001}, {2000, 512}, {9, 70001},
  };
  return *shapes;
}

// x * scale + shift for each shape, with a scalar scale and a shift for each feature.
xla::XlaComputation Scaled(bool in_place) {
  XlaBuilder builder("scaled");
  const XlaOp scale = xla::Parameter(&builder, 0, Array(xla::F32, {}), "scale");
  std::vector<XlaOp> results;
  int64_t next = 1;
  for (const std::vector<int64_t>& dims : Shapes()) {
    const int64_t rank = dims.size();
    const int64_t number = next++;
    if (in_place) builder.SetUpAlias({static_cast<int64_t>(results.size())}, number, {});
    const XlaOp x = xla::Parameter(&builder, number, Array(xla::F32, dims), "x");
    const XlaOp shift = xla::Parameter(&builder, next++, Array(xla::F32, {dims.back()}), "shift");
    results.push_back(x * scale + xla::BroadcastInDim(xla::Abs(shift), dims, {rank - 1}));
  }
  xla::Tuple(&builder, results);
  return builder.Build().value();
}

// Applies an elementwise operation to an array of each shape.
template <typename Operation>
xla::XlaComputation Mapped(xla::PrimitiveType type, Operation operation) {
  XlaBuilder builder("mapped");
  std::vector<XlaOp> results;
  for (const std::vector<int64_t>& dims : Shapes()) {
    results.push_back(operation(xla::Parameter(&builder, results.size(), Array(type, dims), "x")));
  }
  xla::Tuple(&builder, results);
  return builder.Build().value();
}

void ExpectSameAsJit(const xla::XlaComputation& computation, size_t max_functions) {
  cts::ScopedVariable no_kernels("HPU_EMULATOR_KERNELS", "off");
  auto parts = CompileParts(ProgramOf(computation));
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_GT(parts->row_loops.size(), Shapes().size() / 2);
  EXPECT_LE(parts->functions.size(), max_functions);
  const auto recipe = EmulatorRecipe::Create("loops", *std::move(parts));
  ASSERT_TRUE(recipe.ok()) << recipe.status();
  const std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  const std::vector<std::string> results = RunRecipe(**recipe, arguments), expected = RunJit(computation, arguments);
  ASSERT_EQ(results.size(), expected.size());
  for (size_t i = 0; i < results.size(); ++i) EXPECT_TRUE(results[i] == expected[i]) << "result " << i;
}

TEST(RowProgramsTest, FeaturesOfAllShapesShareFunctions) {
  // The shapes of one dimension have no broadcast, and features with long rows have functions of their own.
  ExpectSameAsJit(Scaled(/*in_place=*/false), 4);
}

TEST(RowProgramsTest, UpdatesOfAllShapesShareFunctions) { ExpectSameAsJit(Scaled(/*in_place=*/true), 4); }

TEST(RowProgramsTest, ElementsOfAllTypesShareFunctions) {
  for (const xla::PrimitiveType type : {xla::F64, xla::BF16, xla::S8}) {
    SCOPED_TRACE(xla::PrimitiveType_Name(type));
    ExpectSameAsJit(Mapped(type, [](XlaOp x) { return xla::Max(x * x, xla::Neg(x)); }), 2);
  }
}

// Elements of the operand and of the result have different sizes.
TEST(RowProgramsTest, ConversionsShareFunctions) {
  ExpectSameAsJit(Mapped(xla::S8, [](XlaOp x) { return xla::ConvertElementType(x, xla::F64); }), 3);
}

// Clamp takes scalar limits; functions of elements compute the same bits in vectors and in single elements.
TEST(RowProgramsTest, FunctionsOfElementsShareFunctions) {
  ExpectSameAsJit(Mapped(xla::F32,
                         [](XlaOp x) {
                           const XlaOp limit = xla::ConstantR0<float>(x.builder(), 0.5f);
                           return xla::Clamp(xla::Neg(limit), xla::Exp(x) + xla::Tanh(x), limit) +
                                  xla::Log(xla::Abs(x));
                         }),
                  2);
}

TEST(RowProgramsTest, RoundTripsThroughDisk) { ExpectSameFromDisk(Scaled(/*in_place=*/true)); }

// Copies variables of each shape. Outside fusions, XLA would copy each array at once.
TEST(RowProgramsTest, CopiesShareFunctions) {
  XlaBuilder builder("copies");
  std::vector<XlaOp> results;
  for (const std::vector<int64_t>& dims : Shapes()) {
    const int64_t number = results.size();
    const XlaOp x = xla::Parameter(&builder, number, Array(xla::F32, dims), "x");
    results.push_back(x);
    results.push_back(x + x);
    builder.SetUpAlias({number + 1}, number, {});
    xla::Parameter(&builder, number + 1, Array(xla::F32, dims), "unused");
  }
  xla::Tuple(&builder, results);
  // At most four functions: copies and sums, each in place or not.
  ExpectSameAsJit(builder.Build().value(), 4);
}

// A broadcast of one value per row prevents a row loop, because features are in the last dimensions.
TEST(RowProgramsTest, OtherBroadcastsKeepTheirFunctions) {
  cts::ScopedVariable no_kernels("HPU_EMULATOR_KERNELS", "off");
  XlaBuilder builder("rows");
  std::vector<XlaOp> results;
  int64_t next = 0;
  for (int64_t size = 8; size < 32; ++size) {
    const XlaOp x = xla::Parameter(&builder, next++, Array(xla::F32, {size, size}), "x");
    const XlaOp of_row = xla::Parameter(&builder, next++, Array(xla::F32, {size}), "of_row");
    results.push_back(x * xla::BroadcastInDim(of_row, {size, size}, {0}));
  }
  xla::Tuple(&builder, results);
  const xla::XlaComputation computation = builder.Build().value();
  auto parts = CompileParts(ProgramOf(computation));
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_TRUE(parts->row_loops.empty());
  EXPECT_EQ(parts->functions.size(), results.size());
  const auto recipe = EmulatorRecipe::Create("rows", *std::move(parts));
  ASSERT_TRUE(recipe.ok()) << recipe.status();
  const std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  EXPECT_TRUE(RunRecipe(**recipe, arguments) == RunJit(computation, arguments));
}

}  // namespace row_programs_test
}  // namespace hpu::emulator
