#include "plugin/testing/kernel_harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "plugin/backends/emulator/codegen/compiler.h"
#include "plugin/backends/emulator/kernels/compiler_target.h"
#include "plugin/backends/emulator/kernels/one_dnn.h"
#include "plugin/compat/xla_compat.h"
#include "plugin/testing/cts/fixture.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/debug_options_flags.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/layout_util.h"
#include "xla/service/batchnorm_expander.h"
#include "xla/service/dynamic_dimension_inference.h"

namespace hpu::emulator {
namespace {

// Whether numbers of the type may differ by a tolerance. Other types require equal bits.
bool IsCompared(xla::PrimitiveType type) { return type == xla::F64 || type == xla::F32 || type == xla::BF16; }

template <typename T>
std::vector<double> NumbersOf(absl::string_view bytes) {
  std::vector<T> numbers(bytes.size() / sizeof(T));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return std::vector<double>(numbers.begin(), numbers.end());
}

// Elements of an array of a type that is compared.
std::vector<double> Numbers(absl::string_view bytes, xla::PrimitiveType type) {
  if (type == xla::F64) return NumbersOf<double>(bytes);
  return type == xla::F32 ? NumbersOf<float>(bytes) : NumbersOf<xla::bfloat16>(bytes);
}

// Whether a recipe calls a library that may split sums by the number of threads: TensorFlow's kernels, and Eigen, which
// XLA's code calls.
bool CallsLibrary(const RecipeParts& parts) {
  const auto of_library = [](const KernelSpec& kernel) {
    const std::string name = kernel.name.substr(0, kernel.name.find('.'));
    return name == "convolution" || name == "matmul" || name == "linear_algebra" || name == "fourier_transform";
  };
  const auto calls_eigen = [](const CodeParts& code) {
    return code.object.find("__xla_cpu_runtime_Eigen") != std::string::npos;
  };
  return calls_eigen(parts) || std::any_of(parts.functions.begin(), parts.functions.end(), calls_eigen) ||
         std::any_of(parts.kernels.begin(), parts.kernels.end(), of_library);
}

std::string Run(absl::StatusOr<RecipeParts> parts, const std::vector<xla::Literal>& arguments) {
  if (!parts.ok()) {
    ADD_FAILURE() << parts.status();
    return "";
  }
  const bool calls_library = CallsLibrary(*parts);
  const auto recipe = EmulatorRecipe::Create("test", *std::move(parts));
  if (!recipe.ok()) {
    ADD_FAILURE() << recipe.status();
    return "";
  }
  const std::string first = RunRecipe(**recipe, arguments)[0];
  EXPECT_TRUE(RunRecipe(**recipe, arguments)[0] == first) << "the second run returned a different result";
  if (!calls_library) {
    static auto* pool = new ComputePool(ComputePool::DefaultThreads() + 1);
    EXPECT_TRUE(RunRecipe(**recipe, arguments, *pool)[0] == first)
        << "a run with one more thread returned a different result";
  }
  return first;
}

std::string RunByXla(const xla::XlaComputation& computation, const std::vector<xla::Literal>& arguments) {
  return Run(CompileWithoutKernels(ProgramOf(computation)), arguments);
}

// Runs with kernels; if `kernels` is set, expects this number of different kernels.
std::string RunByKernels(const xla::XlaComputation& computation, const std::vector<xla::Literal>& arguments,
                         std::optional<size_t> kernels) {
  cts::ScopedVariable setting("HPU_EMULATOR_KERNELS", "on");
  absl::StatusOr<RecipeParts> parts = CompileParts(ProgramOf(computation));
  if (parts.ok() && kernels.has_value()) EXPECT_EQ(parts->kernels.size(), *kernels);
  return Run(std::move(parts), arguments);
}

std::string Evaluate(const xla::XlaComputation& computation, const std::vector<xla::Literal>& arguments) {
  const std::unique_ptr<xla::HloModule> module = ModuleOf(computation);
  // Expands instructions that the evaluator does not support.
  EXPECT_TRUE(xla::BatchNormExpander(true, true, true).Run(module.get()).ok());
  std::vector<const xla::Literal*> pointers;
  for (const xla::Literal& argument : arguments) pointers.push_back(&argument);
  xla::HloEvaluator evaluator;
  auto dynamic_dimensions = xla::DynamicDimensionInference::Run(module.get()).value();
  evaluator.set_dynamic_dimension_inference(&dynamic_dimensions);
  const xla::Literal result = std::move(evaluator.Evaluate(*module, pointers).value().DecomposeTuple()[0]);
  // The evaluator may return a transposition's result in the operand's layout.
  return BytesOf(result.Relayout(xla::LayoutUtil::GetDefaultLayoutForShape(result.shape())));
}

xla::PrimitiveType TypeOf(const xla::XlaComputation& computation) {
  return computation.GetProgramShape().value().result().tuple_shapes(0).element_type();
}

void ExpectClose(absl::string_view got, absl::string_view want, xla::PrimitiveType type, double tolerance,
                 const char* reference) {
  ASSERT_EQ(got.size(), want.size());
  if (tolerance == 0 || !IsCompared(type)) {
    EXPECT_TRUE(got == want) << "bits differ from " << reference;
    return;
  }
  const std::vector<double> a = Numbers(got, type), b = Numbers(want, type);
  double largest = 0, apart = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) {
      ASSERT_TRUE(std::isnan(b[i]) ? std::isnan(a[i]) : a[i] == b[i])
          << "element " << i << " is " << a[i] << ", but " << b[i] << " from " << reference;
      continue;
    }
    largest = std::max<double>(largest, std::abs(b[i]));
    apart = std::max<double>(apart, std::abs(a[i] - b[i]));
  }
  EXPECT_LE(apart, tolerance * std::max(largest, 1e-3)) << reference;
}

}  // namespace

std::unique_ptr<xla::HloModule> ModuleOf(const xla::XlaComputation& computation) {
  const xla::HloModuleConfig config(compat::ProgramShapeFromProto(computation.proto().host_program_shape()).value());
  return xla::HloModule::CreateFromProto(computation.proto(), config).value();
}

std::unique_ptr<xla::HloModule> AfterXlaPasses(const xla::XlaComputation& computation,
                                               const std::function<absl::Status(xla::HloModule*)>& before) {
  xla::HloModuleConfig config(compat::ProgramShapeFromProto(computation.proto().host_program_shape()).value(),
                              /*ignore_layouts=*/true);
  config.set_debug_options(xla::GetDebugOptionsFromFlags());
  auto module = xla::HloModule::CreateFromProto(computation.proto(), config).value();
  if (before != nullptr) EXPECT_TRUE(before(module.get()).ok());
  return compat::RunCpuHloPasses(std::move(module)).value();
}

void SetSpecialNumbers(xla::Literal* array, Dice* dice) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kSpecial[] = {std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity, 0.0f, -0.0f};
  xla::Literal wide = array->Convert(xla::F32).value();
  const int64_t elements = wide.element_count();
  for (int64_t i = dice->Roll(0, 20); i > 0 && elements > 0; --i) {
    wide.data<float>()[dice->Roll(0, elements - 1)] = kSpecial[dice->Roll(0, 4)];
  }
  *array = wide.Convert(array->shape().element_type()).value();
}

bool HasProductKernels() { return !IsTargetGeneric() && UsesOneDnn("MatMul", /*bfloat16=*/false); }

std::vector<KernelSpec> KernelsOf(const xla::XlaComputation& computation) {
  auto parts = CompileParts(ProgramOf(computation));
  EXPECT_TRUE(parts.ok()) << parts.status();
  return parts.ok() ? parts->kernels : std::vector<KernelSpec>();
}

size_t CountKernels(const xla::XlaComputation& computation, const std::string& name) {
  const std::vector<KernelSpec> kernels = KernelsOf(computation);
  return std::count_if(kernels.begin(), kernels.end(), [&](const KernelSpec& kernel) { return kernel.name == name; });
}

std::string ResultOf(const xla::XlaComputation& computation, const std::vector<xla::Literal>& arguments) {
  return Run(CompileParts(ProgramOf(computation)), arguments);
}

std::string RunKernel(const KernelSpec& spec, const std::vector<absl::string_view>& operands, uint64_t bytes) {
  const auto kernel = MakeKernel(spec);
  if (!kernel.ok()) {
    ADD_FAILURE() << kernel.status();
    return "";
  }
  const std::vector<TestBuffer> buffers(operands.begin(), operands.end());
  std::vector<const void*> addresses;
  for (const TestBuffer& buffer : buffers) addresses.push_back(buffer.data());
  std::string first;
  for (const int threads : {1, 2, 3}) {
    ComputePool pool(threads);
    const TestBuffer result(bytes);
    void* const to = result.data();
    EXPECT_TRUE((*kernel)->Run({addresses.data(), &to, nullptr, pool}).ok());
    if (threads == 1) first = std::string(result.contents());
    EXPECT_TRUE(result.contents() == first) << threads << " threads returned a different result";
  }
  return first;
}

void ExpectSameAsEvaluator(const xla::XlaComputation& computation, const std::vector<xla::Literal>& arguments,
                           size_t kernels, double tolerance) {
  ExpectClose(RunByKernels(computation, arguments, kernels), Evaluate(computation, arguments), TypeOf(computation),
              tolerance, "the evaluator");
}

void ExpectSameAsXla(const xla::XlaComputation& computation, const std::vector<xla::Literal>& arguments,
                     double tolerance) {
  ExpectClose(RunByKernels(computation, arguments, std::nullopt), RunByXla(computation, arguments), TypeOf(computation),
              tolerance, "XLA");
}

void ExpectSameWithKernels(const xla::XlaComputation& computation, const std::vector<xla::Literal>& arguments,
                           size_t kernels, double tolerance) {
  const std::string got = RunByKernels(computation, arguments, kernels);
  ExpectClose(got, Evaluate(computation, arguments), TypeOf(computation), tolerance, "the evaluator");
  ExpectClose(got, RunByXla(computation, arguments), TypeOf(computation), std::max(tolerance, 2e-6), "XLA");
}

}  // namespace hpu::emulator
