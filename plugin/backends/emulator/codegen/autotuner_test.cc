// Tests of Autotuner (HPU_AUTOTUNE): measurements, choices, and the choices in stored recipes.
#include "plugin/backends/emulator/codegen/autotuner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "plugin/backends/emulator/codegen/compiler.h"
#include "plugin/backends/emulator/hlo_passes/kernel_passes.h"
#include "plugin/backends/emulator/kernels/compiler_target.h"
#include "plugin/base/status_macros.h"
#include "plugin/testing/cts/fixture.h"
#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu::emulator {
namespace autotuner_test {

KernelChoice ChoiceOf(Autotuner* autotuner) {
  return [autotuner](const xla::HloInstruction& instruction, absl::Span<const xla::HloInstruction* const> inner) {
    return autotuner->PrefersKernel(instruction, inner);
  };
}

xla::XlaOp Argument(xla::XlaBuilder* builder, int64_t number, const std::vector<int64_t>& dims) {
  return xla::Parameter(builder, number, xla::ShapeUtil::MakeShape(xla::F32, dims), "x" + std::to_string(number));
}

// Two products of equal shapes and one product of another shape.
xla::XlaComputation Products() {
  xla::XlaBuilder builder("products");
  const xla::XlaOp a = Argument(&builder, 0, {160, 170}), b = Argument(&builder, 1, {170, 160});
  xla::Tuple(&builder, {xla::Dot(xla::Dot(xla::Dot(a, b), a), b)});
  return builder.Build().value();
}

// A transposed product, which a kernel computes as one product with exchanged operands.
xla::XlaComputation Exchanged() {
  xla::XlaBuilder builder("exchanged");
  const xla::XlaOp product = xla::Dot(Argument(&builder, 0, {120, 110}), Argument(&builder, 1, {110, 100}));
  xla::Tuple(&builder, {xla::Reshape(xla::Transpose(product, {1, 0}), {120 * 100})});
  return builder.Build().value();
}

// The gradient of the filter or of the image, for a convolution of [2, 9, 9, 8] by [3, 3, 8, 16].
xla::XlaComputation Gradient(bool of_filter, bool padded) {
  xla::XlaBuilder builder("gradient");
  const int64_t size = padded ? 9 : 7, pad = padded ? 1 : 0;
  xla::ConvolutionDimensionNumbers numbers = xla::XlaBuilder::CreateDefaultConvDimensionNumbers();
  const auto set = [](auto* dimensions, int64_t first) {
    dimensions->Clear();
    for (int64_t i = first; i < first + 2; ++i) dimensions->Add(i);
  };
  set(numbers.mutable_input_spatial_dimensions(), 1);
  set(numbers.mutable_kernel_spatial_dimensions(), of_filter ? 1 : 0);
  set(numbers.mutable_output_spatial_dimensions(), of_filter ? 0 : 1);
  numbers.set_input_batch_dimension(of_filter ? 3 : 0);
  numbers.set_input_feature_dimension(of_filter ? 0 : 3);
  numbers.set_kernel_input_feature_dimension(of_filter ? 0 : 3);
  numbers.set_kernel_output_feature_dimension(of_filter ? 3 : 2);
  numbers.set_output_batch_dimension(of_filter ? 2 : 0);
  numbers.set_output_feature_dimension(3);
  const xla::XlaOp dy = Argument(&builder, of_filter ? 1 : 0, {2, size, size, 16});
  const xla::XlaOp gradient =
      of_filter ? xla::ConvGeneral(Argument(&builder, 0, {2, 9, 9, 8}), dy, {1, 1}, {{pad, pad}, {pad, pad}}, numbers)
                : xla::ConvGeneral(dy, xla::Rev(Argument(&builder, 1, {3, 3, 8, 16}), {0, 1}), {1, 1},
                                   {{2 - pad, 2 - pad}, {2 - pad, 2 - pad}}, numbers);
  xla::Tuple(&builder, {gradient});
  return builder.Build().value();
}

// Number of kernels in a tuned program, and number of measurements for two compilations.
struct Outcome {
  size_t kernels = 0;
  int measurements = 0;
};

Outcome Tuned(Autotuner::Times times, const xla::XlaComputation& computation = Products()) {
  Outcome outcome;
  Autotuner autotuner([&](const xla::HloModule&) {
    ++outcome.measurements;
    return times;
  });
  for (int i = 0; i < 2; ++i) {
    auto kernels = UseKernels(ModuleOf(computation).get(), /*replace=*/true, ChoiceOf(&autotuner));
    EXPECT_TRUE(kernels.ok()) << kernels.status();
    outcome.kernels = kernels->size();
  }
  return outcome;
}

TEST(AutotunerTest, SelectsTheFasterCode) {
  if (!HasProductKernels()) GTEST_SKIP() << kNoProductKernels;
  EXPECT_EQ(Tuned({/*xla=*/1, /*kernel=*/2}).kernels, 0);
  EXPECT_EQ(Tuned({/*xla=*/2, /*kernel=*/1}).kernels, 2);
}

TEST(AutotunerTest, ExchangedProductsAreMeasured) {
  if (!HasProductKernels()) GTEST_SKIP() << kNoProductKernels;
  const Outcome slower = Tuned({/*xla=*/1, /*kernel=*/2}, Exchanged());
  EXPECT_EQ(slower.kernels, 0);
  EXPECT_EQ(slower.measurements, 2) << "one for the product with its transposition, one for the product alone";
  const Outcome quicker = Tuned({/*xla=*/2, /*kernel=*/1}, Exchanged());
  EXPECT_EQ(quicker.kernels, 1);
  EXPECT_EQ(quicker.measurements, 1);
}

TEST(AutotunerTest, GradientsOfConvolutionsAreMeasured) {
  if (IsTargetGeneric()) GTEST_SKIP() << "the generic target has no kernels for convolutions";
  for (const bool of_filter : {false, true}) {
    for (const bool padded : {false, true}) {
      SCOPED_TRACE(testing::Message() << of_filter << padded);
      const xla::XlaComputation gradient = Gradient(of_filter, padded);
      EXPECT_EQ(Tuned({/*xla=*/1, /*kernel=*/2}, gradient).kernels, 0);
      const Outcome quicker = Tuned({/*xla=*/2, /*kernel=*/1}, gradient);
      EXPECT_EQ(quicker.kernels, 1);
      EXPECT_EQ(quicker.measurements, 1);
    }
  }
}

// A measurement includes the instructions that a kernel makes unnecessary: a filter's reversal, a transposition.
TEST(AutotunerTest, ReplacesMeasuredInstructions) {
  for (const xla::XlaComputation& computation : {Gradient(false, true), Gradient(true, true), Exchanged()}) {
    size_t kernels = 0;
    Autotuner autotuner([&](const xla::HloModule& program) -> absl::StatusOr<Autotuner::Times> {
      const std::unique_ptr<xla::HloModule> copy = program.Clone("");
      HPU_ASSIGN_OR_RETURN(const auto specs, UseKernels(copy.get(), /*replace=*/true, nullptr));
      kernels = specs.size();
      return MeasureTimes(program);
    });
    auto used = UseKernels(ModuleOf(computation).get(), /*replace=*/true, ChoiceOf(&autotuner));
    ASSERT_TRUE(used.ok()) << used.status();
    if (KernelsOf(computation).empty()) continue;  // without oneDNN
    EXPECT_EQ(kernels, 1);
  }
}

TEST(AutotunerTest, MeasuresEachShapeOnce) {
  if (!HasProductKernels()) GTEST_SKIP() << kNoProductKernels;
  EXPECT_EQ(Tuned({/*xla=*/1, /*kernel=*/2}).measurements, 2);
}

TEST(AutotunerTest, ReportsErrors) {
  Autotuner autotuner([](const xla::HloModule&) -> absl::StatusOr<Autotuner::Times> {
    return absl::InternalError("the clock stands still");
  });
  const auto module = ModuleOf(Products());
  const xla::HloInstruction& dot = *module->entry_computation()->root_instruction()->operand(0);
  EXPECT_EQ(autotuner.PrefersKernel(dot).status().message(), "the clock stands still");
}

TEST(AutotunerTest, MeasuresBoth) {
  constexpr int64_t kSize = 100;
  xla::XlaBuilder builder("sums");
  const xla::XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::F32, {kSize, 8}), "x");
  xla::Tuple(&builder, {xla::ReduceWindowWithGeneralPadding(x, xla::Zero(&builder, xla::F32),
                                                            xla::CreateScalarAddComputation(xla::F32, &builder),
                                                            {kSize, 1}, {1, 1}, {}, {}, {{kSize - 1, 0}, {0, 0}})});
  const auto times = MeasureTimes(*ModuleOf(builder.Build().value()));
  ASSERT_TRUE(times.ok()) << times.status();
  EXPECT_TRUE(std::isfinite(times->xla) && times->xla > 0) << times->xla;
  EXPECT_TRUE(std::isfinite(times->kernel) && times->kernel > 0) << times->kernel;
}

// Both choices compute the right results, and a stored recipe keeps the choice of its compilation.
TEST(AutotunerTest, RecipeStoresTheChoice) {
  const std::string untuned = CompilerTarget();
  cts::ScopedVariable setting("HPU_AUTOTUNE", "on");
  EXPECT_NE(CompilerTarget(), untuned);
  for (const xla::XlaComputation& computation :
       {Products(), Exchanged(), Gradient(false, true), Gradient(true, true)}) {
    ExpectSameAsEvaluator(computation, ArgumentsOf(computation), KernelsOf(computation).size(), 1e-5);
    ExpectSameFromDisk(computation);
  }
}

}  // namespace autotuner_test
}  // namespace hpu::emulator
