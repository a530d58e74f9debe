// Tests of the kernels of a recipe: storage on disk, threads, unknown kernels, invalid parameters.
#include "plugin/backends/emulator/kernels/recipe_kernels.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "plugin/backends/emulator/codegen/compiler.h"
#include "plugin/backends/emulator/kernels/column_reduction.h"
#include "plugin/backends/emulator/kernels/compiler_target.h"
#include "plugin/testing/cts/fixture.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu::emulator {
namespace {

// Two sums over rows of equal arrays.
xla::XlaComputation TwoSums() {
  xla::XlaBuilder builder("sums");
  const xla::Shape shape = xla::ShapeUtil::MakeShape(xla::F32, {3000, 16});
  const xla::XlaComputation add = xla::CreateScalarAddComputation(xla::F32, &builder);
  const xla::XlaOp zero = xla::Zero(&builder, xla::F32);
  xla::Tuple(&builder, {xla::Reduce(xla::Parameter(&builder, 0, shape, "a"), zero, add, {0}),
                        xla::Reduce(xla::Parameter(&builder, 1, shape, "b"), zero, add, {0})});
  return builder.Build().value();
}

TEST(RecipeKernelsTest, EqualCallsShareAKernel) {
  auto parts = CompileParts(ProgramOf(TwoSums()));
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_EQ(parts->kernels.size(), 1);
}

TEST(RecipeKernelsTest, RoundTripThroughDisk) { ExpectSameFromDisk(TwoSums()); }

// Three threads must compute the same as one thread.
TEST(RecipeKernelsTest, NumbersDoNotDependOnThreads) {
  const xla::XlaComputation computation = TwoSums();
  const std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  auto recipe = CompileRecipe(ProgramOf(computation));
  ASSERT_TRUE(recipe.ok()) << recipe.status();
  ComputePool one(1), three(3);
  EXPECT_TRUE(RunRecipe(**recipe, arguments, one) == RunRecipe(**recipe, arguments, three));
}

TEST(RecipeKernelsTest, UnknownKernelsAreRefused) {
  auto parts = CompileParts(ProgramOf(TwoSums()));
  ASSERT_TRUE(parts.ok()) << parts.status();
  RecipeParts changed = *parts;
  changed.kernels[0].name = "column_reduction.999";
  auto recipe = EmulatorRecipe::Create("later", changed);
  EXPECT_EQ(recipe.status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(absl::StrContains(recipe.status().message(), "column_reduction.999")) << recipe.status();

  changed = *parts;
  changed.kernels[0].parameters.pop_back();
  recipe = EmulatorRecipe::Create("damaged", changed);
  EXPECT_EQ(recipe.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(RecipeKernelsTest, AreAnIngredientOfTheTarget) {
  const std::string with = CompilerTarget();
  EXPECT_TRUE(absl::StrContains(with, ColumnReduction().Spec().name)) << with;
  cts::ScopedVariable no_kernels("HPU_EMULATOR_KERNELS", "off");
  EXPECT_NE(CompilerTarget(), with);
  auto parts = CompileParts(ProgramOf(TwoSums()));
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_EQ(parts->kernels.size(), 0);
}

// Every kernel rejects invalid parameters.
TEST(RecipeKernelsTest, EveryKernelRefusesBadParameters) {
  const std::vector<std::vector<int64_t>> bad = {{}, {-1}, {0, 0}, {0, -1, -1, -1}, std::vector<int64_t>(25, -1)};
  for (absl::string_view name : absl::StrSplit(KernelNames(), ' ')) {
    for (const std::vector<int64_t>& parameters : bad) {
      EXPECT_EQ(MakeKernel({std::string(name), parameters}).status().code(), absl::StatusCode::kInvalidArgument)
          << name;
    }
  }
}

}  // namespace
}  // namespace hpu::emulator
