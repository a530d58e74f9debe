// Tests that loops overwrite only values that nothing reads later.
#include "plugin/backends/emulator/hlo_passes/memory_reuse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "plugin/backends/emulator/codegen/compiler.h"
#include "plugin/backends/emulator/codegen/object/outlining.h"
#include "plugin/testing/cts/fixture.h"
#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/hlo/ir/hlo_computation.h"

namespace hpu::emulator {
namespace memory_reuse_test {

using xla::XlaBuilder;
using xla::XlaOp;

constexpr int kLayers = 14;  // a program of few loops is not outlined

XlaOp Matrix(XlaBuilder* builder, int64_t number, std::vector<int64_t> dims) {
  return xla::Parameter(builder, number, xla::ShapeUtil::MakeShape(xla::F32, dims), absl::StrCat("p", number));
}

XlaOp Number(XlaBuilder* builder, float value) { return xla::ConstantR0<float>(builder, value); }

// A chain of products: `layer` maps each product to an operand of the next product. The program returns the results
// that `layer` adds, then the last product.
using Layer = std::function<XlaOp(XlaOp product, std::vector<XlaOp>* results)>;
xla::XlaComputation Layers(int64_t rows, const Layer& layer) {
  XlaBuilder builder("layers");
  XlaOp x = Matrix(&builder, 0, {rows, 128});
  const XlaOp weights = Matrix(&builder, 1, {128, 128});
  std::vector<XlaOp> results;
  for (int i = 0; i < kLayers; ++i) x = layer(xla::Dot(x, weights), &results);
  results.push_back(xla::Dot(x, weights));
  xla::Tuple(&builder, results);
  return builder.Build().value();
}

// Number of function calls that overwrite an operand.
int64_t CountOverwriting(const xla::XlaComputation& computation) {
  const std::unique_ptr<xla::HloModule> module = AfterXlaPasses(computation);
  const auto functions = Outline(module.get(), 0);
  EXPECT_TRUE(functions.ok()) << functions.status();
  EXPECT_GT(functions->programs.size(), 0);
  return absl::c_count_if(module->entry_computation()->instructions(), [](const xla::HloInstruction* instruction) {
    return instruction->opcode() == xla::HloOpcode::kCustomCall &&
           !xla::HloDataflowAnalysis::GetInPlaceInputOutputPairs(instruction).empty();
  });
}

// Compares the results with XLA's executable, which shares no memory between functions.
void ExpectSameAsJit(const xla::XlaComputation& computation) {
  cts::ScopedVariable no_kernels("HPU_EMULATOR_KERNELS", "off");
  const std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  auto recipe = CompileRecipe(ProgramOf(computation));
  ASSERT_TRUE(recipe.ok()) << recipe.status();
  EXPECT_TRUE(RunRecipe(**recipe, arguments) == RunJit(computation, arguments));
}

XlaOp Sigmoid(XlaOp x, std::vector<XlaOp>*) { return xla::Logistic(x); }

TEST(MemoryReuse, OverwritesDeadValues) {
  EXPECT_EQ(CountOverwriting(Layers(256, Sigmoid)), kLayers);
  ExpectSameAsJit(Layers(256, Sigmoid));
}

TEST(MemoryReuse, SmallArraysStay) { EXPECT_EQ(CountOverwriting(Layers(32, Sigmoid)), 0); }

TEST(MemoryReuse, NeedsLessMemory) {
  cts::ScopedVariable no_kernels("HPU_EMULATOR_KERNELS", "off");
  auto parts = CompileParts(ProgramOf(Layers(256, Sigmoid)));
  ASSERT_TRUE(parts.ok()) << parts.status();
  // Less memory than three arrays need: one for a layer and one for the next layer.
  EXPECT_LT(parts->workspace_bytes, 3 * 256 * 128 * sizeof(float));
}

TEST(MemoryReuse, ResultsStay) {
  const xla::XlaComputation computation = Layers(256, [](XlaOp product, std::vector<XlaOp>* results) {
    results->push_back(product);
    return xla::Logistic(product);
  });
  EXPECT_EQ(CountOverwriting(computation), 0);
  ExpectSameAsJit(computation);
}

TEST(MemoryReuse, ArgumentsStay) {
  XlaBuilder builder("arguments");
  std::vector<XlaOp> results;
  for (int i = 0; i < kLayers; ++i) {
    // Whole vectors of 16 elements, because XLA computes the remaining elements with the C library.
    results.push_back(xla::Logistic(Matrix(&builder, i, {256, 128 + 16 * i})));
  }
  xla::Tuple(&builder, results);
  const xla::XlaComputation computation = builder.Build().value();
  EXPECT_EQ(CountOverwriting(computation), 0);
  ExpectSameAsJit(computation);
}

// The new values of variables are loops over products of the variables; the products must not use the variables'
// memory.
TEST(MemoryReuse, UpdatedVariablesStay) {
  const auto updates = [](bool in_place) {
    XlaBuilder builder("updates");
    const XlaOp weights = Matrix(&builder, 0, {128, 128});
    std::vector<XlaOp> results;
    for (int i = 0; i < kLayers; ++i) {
      const XlaOp variable = Matrix(&builder, i + 1, {256, 128});
      results.push_back(xla::Logistic(xla::Dot(variable, weights)));
      results.push_back(xla::Dot(xla::Tanh(variable), weights));
      if (in_place) builder.SetUpAlias({2 * i}, i + 1, {}, xla::HloInputOutputAliasConfig::kMayAlias);
    }
    xla::Tuple(&builder, results);
    return builder.Build().value();
  };
  const std::vector<xla::Literal> arguments = ArgumentsOf(updates(/*in_place=*/false));
  cts::ScopedVariable no_kernels("HPU_EMULATOR_KERNELS", "off");
  auto recipe = CompileRecipe(ProgramOf(updates(/*in_place=*/true)));
  ASSERT_TRUE(recipe.ok()) << recipe.status();
  EXPECT_TRUE(RunRecipe(**recipe, arguments) == RunJit(updates(/*in_place=*/false), arguments));
}

// A slice also reads the product, perhaps after the loop.
TEST(MemoryReuse, LiveValuesStay) {
  const xla::XlaComputation computation = Layers(256, [](XlaOp product, std::vector<XlaOp>*) {
    const XlaOp weights = xla::Slice(product, {0, 0}, {128, 128}, {1, 1});
    return xla::Dot(xla::Logistic(product), xla::Dot(weights, weights));
  });
  ExpectSameAsJit(computation);
}

// A row's maximum is computed before the row is overwritten.
TEST(MemoryReuse, OverwritesValuesAfterTheirLastRead) {
  const xla::XlaComputation computation = Layers(256, [](XlaOp product, std::vector<XlaOp>*) {
    XlaBuilder* builder = product.builder();
    const XlaOp largest =
        xla::Reduce(product, xla::MinValue(builder, xla::F32), xla::CreateScalarMaxComputation(xla::F32, builder), {1});
    return xla::Exp(xla::Sub(product, largest, {0}));
  });
  EXPECT_EQ(CountOverwriting(computation), kLayers);
  ExpectSameAsJit(computation);
}

// A loop over an array of another shape, in the same order.
TEST(MemoryReuse, OverwritesArraysOfAnotherShape) {
  const xla::XlaComputation computation = Layers(256, [](XlaOp product, std::vector<XlaOp>*) {
    const XlaOp blocks = xla::Exp(xla::Reshape(product * product, {16, 16, 128}));
    return xla::Reshape(xla::Transpose(blocks, {1, 0, 2}), {256, 128});
  });
  ExpectSameAsJit(computation);
}

class MemoryReuseTest : public testing::TestWithParam<int> {};

// A random program of 40 elementwise operations, data movements, products, reductions and reshapes of matrices.
xla::XlaComputation RandomProgram(int seed) {
  Dice dice(seed);
  XlaBuilder builder("random");
  constexpr int64_t kSize = 128;
  std::vector<XlaOp> values;
  for (int i = 0; i < 3; ++i) values.push_back(Matrix(&builder, i, {kSize, kSize}));
  const auto any = [&] { return values[dice.Roll(std::max<int64_t>(0, values.size() - 6), values.size() - 1)]; };
  const xla::XlaComputation add = xla::CreateScalarAddComputation(xla::F32, &builder);
  for (int i = 0; i < 40; ++i) {
    const XlaOp x = any();
    switch (dice.Roll(0, 9)) {
      case 0:
        values.push_back(xla::Logistic(x));
        break;
      case 1:
        values.push_back(xla::Select(xla::Gt(x, any()), any(), x * Number(&builder, 0.5f)));
        break;
      case 2:
        values.push_back(xla::Transpose(x, {1, 0}) * any());
        break;
      case 3:
        values.push_back(xla::Exp(x - xla::Logistic(any())) * Number(&builder, 0.1f));
        break;
      case 4:
        values.push_back(xla::Sub(x, xla::Reduce(x, Number(&builder, 0), add, {1}), {0}) * Number(&builder, 0.01f));
        break;
      case 5:
        values.push_back(
            xla::Reshape(xla::Rev(xla::Reshape(x, {kSize / 4, 4 * kSize}), {dice.Roll(0, 1)}) * Number(&builder, 0.7f),
                         {kSize, kSize}));
        break;
      case 6:
        values.push_back(xla::Pad(xla::Slice(x, {1, 0}, {kSize, kSize}, {1, 1}), Number(&builder, 0.3f),
                                  xla::MakeEdgePaddingConfig({{1, 0}, {0, 0}})) +
                         any());
        break;
      default:
        values.push_back(xla::Dot(x, any()) * Number(&builder, 1.0f / kSize));
    }
  }
  std::vector<XlaOp> results = {values.back()};
  for (int64_t i = dice.Roll(0, 2); i > 0; --i) results.push_back(any());
  xla::Tuple(&builder, results);
  return builder.Build().value();
}

TEST_P(MemoryReuseTest, RandomProgramsEqualXla) { ExpectSameAsJit(RandomProgram(GetParam())); }

TEST(MemoryReuse, RandomProgramsOverwrite) {
  int64_t overwriting = 0;
  for (int seed = 0; seed < 3; ++seed) overwriting += CountOverwriting(RandomProgram(seed));
  EXPECT_GT(overwriting, 10);
}

INSTANTIATE_TEST_SUITE_P(Random, MemoryReuseTest, testing::Range(0, 24));

}  // namespace memory_reuse_test
}  // namespace hpu::emulator
