// For tests of the passes and kernels: programs with kernels against XLA's evaluator and XLA's own code.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_KERNEL_HARNESS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_KERNEL_HARNESS_H_

#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/emulator/kernels/kernel.h"
#include "xla/client/xla_computation.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/literal.h"

namespace hpu::emulator {

// Small numbers for random cases; the same sequence for the same seed.
class Dice {
 public:
  explicit Dice(uint32_t seed) : random_(seed + 1) {}
  // From `low` to `high`, both included.
  int64_t Roll(int64_t low, int64_t high) { return low + static_cast<int64_t>(random_() % (high - low + 1)); }

 private:
  std::minstd_rand random_;
};

// The program as the passes take it.
std::unique_ptr<xla::HloModule> ModuleOf(const xla::XlaComputation& computation);

// The program after XLA's passes; `before`, if given, runs ahead of them.
std::unique_ptr<xla::HloModule> AfterXlaPasses(const xla::XlaComputation& computation,
                                               const std::function<absl::Status(xla::HloModule*)>& before = nullptr);

// Puts NaN, infinities and zeros of both signs in some places of an array of float32 or bfloat16.
void SetSpecialNumbers(xla::Literal* array, Dice* dice);

// Whether larger products of matrices have kernels: by oneDNN, and not where code is for any processor.
bool HasProductKernels();
inline constexpr char kNoProductKernels[] = "products have no kernels without oneDNN or for any processor";

// The kernels that the program calls.
std::vector<KernelSpec> KernelsOf(const xla::XlaComputation& computation);
// How many of them have this name.
size_t CountKernels(const xla::XlaComputation& computation, const std::string& name);

// The bytes of the program's first result, with the kernels that the environment asks for. Another run, and one with
// one thread more, have to give the same, the latter unless a library computes. Fails the test on an error, and gives
// "".
std::string ResultOf(const xla::XlaComputation& computation, const std::vector<xla::Literal>& arguments);
// The `bytes` of the result of one call of a kernel, which have to be the same for any number of threads.
std::string RunKernel(const KernelSpec& spec, const std::vector<absl::string_view>& operands, uint64_t bytes);

template <typename T>
absl::string_view BytesOf(const std::vector<T>& elements) {
  return {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T)};
}

template <typename T>
std::vector<T> ElementsOf(absl::string_view bytes) {
  std::vector<T> elements(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(elements.data(), bytes.data(), elements.size() * sizeof(T));
  return elements;
}

// Runs a program of one result with kernels, expects it to call `kernels` of them, and compares the result with that of
// XLA's evaluator. Elements of float32 and bfloat16 may differ by `tolerance` times the largest one; 0, and other
// types, ask for equal bits.
void ExpectSameAsEvaluator(const xla::XlaComputation& computation, const std::vector<xla::Literal>& arguments,
                           size_t kernels, double tolerance);
// Compares with a recipe without kernels alone: the evaluator lacks some instructions.
void ExpectSameAsXla(const xla::XlaComputation& computation, const std::vector<xla::Literal>& arguments,
                     double tolerance);
// Compares with the evaluator, and with a recipe without kernels, which may add in another order and knows less of NaN.
void ExpectSameWithKernels(const xla::XlaComputation& computation, const std::vector<xla::Literal>& arguments,
                           size_t kernels, double tolerance);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_KERNEL_HARNESS_H_
