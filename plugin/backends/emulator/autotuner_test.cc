// HPU_AUTOTUNE: what is asked, what is obeyed, what a recipe keeps of it.
#include "plugin/backends/emulator/autotuner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "plugin/backends/emulator/compiler.h"
#include "plugin/backends/emulator/compiler_target.h"
#include "plugin/backends/emulator/hlo_passes/kernel_harness.h"
#include "plugin/backends/emulator/hlo_passes/kernel_passes.h"
#include "plugin/backends/emulator/kernels/cumulative.h"
#include "plugin/backends/emulator/recipe_harness.h"
#include "plugin/cts/fixture.h"
#include "tensorflow/core/util/util.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"
#include "xla/client/xla_builder.h"

namespace hpu::emulator {
namespace {

// Two products of one shape, and one of another.
xla::XlaComputation Products() {
  xla::XlaBuilder builder("products");
  const auto parameter = [&](int64_t number, int64_t rows, int64_t columns) {
    return xla::Parameter(&builder, number, xla::ShapeUtil::MakeShape(xla::F32, {rows, columns}),
                          "x" + std::to_string(number));
  };
  const xla::XlaOp a = parameter(0, 160, 170), b = parameter(1, 170, 160);
  xla::Tuple(&builder, {xla::Dot(xla::Dot(xla::Dot(a, b), a), b)});
  return builder.Build().value();
}

// How many kernels a program gets, if `times` is what a stopwatch shows, and how often it is asked.
struct Outcome {
  size_t kernels = 0;
  int measurements = 0;
};

Outcome Tuned(Autotuner::Times times) {
  Outcome outcome;
  Autotuner autotuner([&](const xla::HloInstruction& instruction, const KernelSpec&) {
    EXPECT_EQ(instruction.opcode(), xla::HloOpcode::kDot);
    ++outcome.measurements;
    return times;
  });
  for (int i = 0; i < 2; ++i) {
    auto kernels = UseKernels(ModuleOf(Products()).get(), /*replace=*/true, &autotuner);
    EXPECT_TRUE(kernels.ok()) << kernels.status();
    outcome.kernels = kernels->size();
  }
  return outcome;
}

TEST(AutotunerTest, TheQuickerOneIsTaken) {
  if (!tensorflow::IsMKLEnabled()) GTEST_SKIP() << "without oneDNN there is no kernel";
  EXPECT_EQ(Tuned({/*xla=*/1, /*kernel=*/2}).kernels, 0);
  EXPECT_EQ(Tuned({/*xla=*/2, /*kernel=*/1}).kernels, 2);
}

TEST(AutotunerTest, EachShapeIsMeasuredOnce) {
  if (!tensorflow::IsMKLEnabled()) GTEST_SKIP() << "without oneDNN there is no kernel";
  EXPECT_EQ(Tuned({/*xla=*/1, /*kernel=*/2}).measurements, 2);
}

TEST(AutotunerTest, ErrorsAreTold) {
  Autotuner autotuner([](const xla::HloInstruction&, const KernelSpec&) -> absl::StatusOr<Autotuner::Times> {
    return absl::InternalError("the clock stands still");
  });
  const auto module = ModuleOf(Products());
  const xla::HloInstruction& dot = *module->entry_computation()->root_instruction()->operand(0);
  EXPECT_EQ(autotuner.PrefersKernel(dot, {"matmul.1", {}}).status().message(), "the clock stands still");
}

TEST(AutotunerTest, MeasuresBoth) {
  constexpr int64_t kSize = 100;
  xla::XlaBuilder builder("sums");
  const xla::XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::F32, {kSize, 8}), "x");
  xla::Tuple(&builder, {xla::ReduceWindowWithGeneralPadding(x, xla::Zero(&builder, xla::F32),
                                                            xla::CreateScalarAddComputation(xla::F32, &builder),
                                                            {kSize, 1}, {1, 1}, {}, {}, {{kSize - 1, 0}, {0, 0}})});
  const auto module = ModuleOf(builder.Build().value());
  const xla::HloInstruction* sums = module->entry_computation()->root_instruction()->operand(0);
  Cumulative kernel;
  kernel.size = kSize;
  kernel.inner = 8;
  const auto times = MeasureTimes(*sums, kernel.Spec());
  ASSERT_TRUE(times.ok()) << times.status();
  EXPECT_TRUE(std::isfinite(times->xla) && times->xla > 0) << times->xla;
  EXPECT_TRUE(std::isfinite(times->kernel) && times->kernel > 0) << times->kernel;
  EXPECT_EQ(MeasureTimes(*sums, {"none", {}}).status().code(), absl::StatusCode::kNotFound);
}

// Whatever is chosen: the numbers are right, and a stored recipe calls what was chosen when it was compiled.
TEST(AutotunerTest, TheRecipeKeepsTheChoice) {
  const std::string untuned = CompilerTarget();
  cts::ScopedVariable setting("HPU_AUTOTUNE", "on");
  EXPECT_NE(CompilerTarget(), untuned);
  const xla::XlaComputation computation = Products();
  ExpectSameAsEvaluator(computation, ArgumentsOf(computation), KernelsOf(computation).size(), 1e-5);
  ExpectSameFromDisk(computation);
}

}  // namespace
}  // namespace hpu::emulator
