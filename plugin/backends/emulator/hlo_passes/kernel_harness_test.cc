#include "plugin/backends/emulator/hlo_passes/kernel_harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "plugin/backends/emulator/compiler.h"
#include "plugin/backends/emulator/recipe_harness.h"
#include "plugin/cts/fixture.h"
#include "xla/debug_options_flags.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/layout_util.h"
#include "xla/service/batchnorm_expander.h"
#include "xla/service/compiler.h"
#include "xla/service/dynamic_dimension_inference.h"
#include "xla/service/platform_util.h"

namespace hpu::emulator {
namespace {

// Bytes of an array of float32 or bfloat16.
std::vector<float> Numbers(absl::string_view bytes, xla::PrimitiveType type) {
  std::vector<float> numbers(bytes.size() / xla::ShapeUtil::ByteSizeOfPrimitiveType(type));
  for (size_t i = 0; i < numbers.size(); ++i) {
    uint32_t bits = 0;
    if (type == xla::F32) {
      std::memcpy(&bits, &bytes[4 * i], 4);
    } else {
      std::memcpy(reinterpret_cast<char*>(&bits) + 2, &bytes[2 * i], 2);
    }
    std::memcpy(&numbers[i], &bits, 4);
  }
  return numbers;
}

std::string Run(const xla::XlaComputation& computation, const std::vector<xla::Literal>& arguments,
                const std::string& kernels) {
  cts::ScopedVariable setting("HPU_EMULATOR_KERNELS", kernels);
  auto recipe = CompileRecipe(ProgramOf(computation));
  if (!recipe.ok()) {
    ADD_FAILURE() << recipe.status();
    return "";
  }
  const std::string first = RunRecipe(**recipe, arguments)[0];
  EXPECT_TRUE(RunRecipe(**recipe, arguments)[0] == first) << "the second run gave other numbers";
  return first;
}

std::string Evaluate(const xla::XlaComputation& computation, const std::vector<xla::Literal>& arguments) {
  const std::unique_ptr<xla::HloModule> module = ModuleOf(computation);
  // The evaluator lacks these.
  EXPECT_TRUE(xla::BatchNormExpander(true, true, true).Run(module.get()).ok());
  std::vector<const xla::Literal*> pointers;
  for (const xla::Literal& argument : arguments) pointers.push_back(&argument);
  xla::HloEvaluator evaluator;
  auto dynamic_dimensions = xla::DynamicDimensionInference::Run(module.get()).value();
  evaluator.set_dynamic_dimension_inference(&dynamic_dimensions);
  const xla::Literal result = std::move(evaluator.Evaluate(*module, pointers).value().DecomposeTuple()[0]);
  // It may give the result of a transposition in the order of the operand.
  return BytesOf(result.Relayout(xla::LayoutUtil::GetDefaultLayoutForShape(result.shape())));
}

xla::PrimitiveType TypeOf(const xla::XlaComputation& computation) {
  return computation.GetProgramShape().value().result().tuple_shapes(0).element_type();
}

void ExpectClose(absl::string_view got, absl::string_view want, xla::PrimitiveType type, double tolerance,
                 const char* reference) {
  ASSERT_EQ(got.size(), want.size());
  if (tolerance == 0) {
    EXPECT_TRUE(got == want) << "other bits than " << reference;
    return;
  }
  const std::vector<float> a = Numbers(got, type), b = Numbers(want, type);
  double largest = 0, apart = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(std::isfinite(a[i]), std::isfinite(b[i])) << "element " << i << " of " << reference;
    if (!std::isfinite(a[i])) continue;
    largest = std::max<double>(largest, std::abs(b[i]));
    apart = std::max<double>(apart, std::abs(a[i] - b[i]));
  }
  EXPECT_LE(apart, tolerance * std::max(largest, 1e-3)) << reference;
}

}  // namespace

std::unique_ptr<xla::HloModule> ModuleOf(const xla::XlaComputation& computation) {
  const xla::HloModuleConfig config(xla::ProgramShape(computation.proto().host_program_shape()));
  return xla::HloModule::CreateFromProto(computation.proto(), config).value();
}

std::unique_ptr<xla::HloModule> AfterXlaPasses(const xla::XlaComputation& computation,
                                               const std::function<absl::Status(xla::HloModule*)>& before) {
  xla::HloModuleConfig config(xla::ProgramShape(computation.proto().host_program_shape()), /*ignore_layouts=*/true);
  config.set_debug_options(xla::GetDebugOptionsFromFlags());
  auto module = xla::HloModule::CreateFromProto(computation.proto(), config).value();
  if (before != nullptr) EXPECT_TRUE(before(module.get()).ok());
  xla::Compiler* compiler = xla::Compiler::GetForPlatform(xla::PlatformUtil::GetPlatform("Host").value()).value();
  return compiler->RunHloPasses(std::move(module), /*executor=*/nullptr, {}).value();
}

std::vector<KernelSpec> KernelsOf(const xla::XlaComputation& computation) {
  auto parts = CompileParts(ProgramOf(computation));
  EXPECT_TRUE(parts.ok()) << parts.status();
  return parts.ok() ? parts->kernels : std::vector<KernelSpec>();
}

size_t CountKernels(const xla::XlaComputation& computation, const std::string& name) {
  const std::vector<KernelSpec> kernels = KernelsOf(computation);
  return std::count_if(kernels.begin(), kernels.end(), [&](const KernelSpec& kernel) { return kernel.name == name; });
}

void ExpectSameAsEvaluator(const xla::XlaComputation& computation, const std::vector<xla::Literal>& arguments,
                           size_t kernels, double tolerance) {
  EXPECT_EQ(KernelsOf(computation).size(), kernels);
  ExpectClose(Run(computation, arguments, "on"), Evaluate(computation, arguments), TypeOf(computation), tolerance,
              "the evaluator");
}

void ExpectSameAsXla(const xla::XlaComputation& computation, const std::vector<xla::Literal>& arguments,
                     double tolerance) {
  ExpectClose(Run(computation, arguments, "on"), Run(computation, arguments, "off"), TypeOf(computation), tolerance,
              "XLA");
}

void ExpectSameWithKernels(const xla::XlaComputation& computation, const std::vector<xla::Literal>& arguments,
                           size_t kernels, double tolerance) {
  ExpectSameAsEvaluator(computation, arguments, kernels, tolerance);
  ExpectSameAsXla(computation, arguments, std::max(tolerance, 2e-6));
}

}  // namespace hpu::emulator
