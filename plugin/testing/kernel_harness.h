// Test harness that compares programs with kernels to XLA's evaluator and XLA's own code.
#ifndef HPU_PLUGIN_TESTING_KERNEL_HARNESS_H_
#define HPU_PLUGIN_TESTING_KERNEL_HARNESS_H_

#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/emulator/kernels/kernel.h"
#include "xla/hlo/builder/xla_computation.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/literal.h"

namespace hpu::emulator {

// Random integers; the same sequence for the same seed.
class Dice {
 public:
  explicit Dice(uint32_t seed) : random_(seed + 1) {}
  // A random integer from `low` to `high`, both included.
  int64_t Roll(int64_t low, int64_t high) { return low + static_cast<int64_t>(random_() % (high - low + 1)); }

 private:
  std::minstd_rand random_;
};

// The program in the form that the passes expect.
std::unique_ptr<xla::HloModule> ModuleOf(const xla::XlaComputation& computation);

// The program after XLA's passes; `before`, if set, runs ahead of them.
std::unique_ptr<xla::HloModule> AfterXlaPasses(const xla::XlaComputation& computation,
                                               const std::function<absl::Status(xla::HloModule*)>& before = nullptr);

// Puts NaN, infinities and zeros of both signs at some positions of an array of float32 or bfloat16.
void SetSpecialNumbers(xla::Literal* array, Dice* dice);

// Whether large float32 products use kernels: only with oneDNN, and not with HPU_EMULATOR_TARGET=generic.
bool HasProductKernels();
inline constexpr char kNoProductKernels[] =
    "matrix products use no kernel without oneDNN or with HPU_EMULATOR_TARGET=generic";

// The kernels that the program calls.
std::vector<KernelSpec> KernelsOf(const xla::XlaComputation& computation);
// Number of the program's kernels with this name.
size_t CountKernels(const xla::XlaComputation& computation, const std::string& name);

// Runs the program with the kernels that the environment selects, and returns the bytes of its first result. A second
// run must return the same bytes, and so must a run with one more thread, unless the recipe calls a library. On error,
// fails the test and returns "".
std::string ResultOf(const xla::XlaComputation& computation, const std::vector<xla::Literal>& arguments);
// Runs a kernel with one, two and three threads, which must return equal results of `bytes` bytes. Returns the result.
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

// Runs a program of one result with kernels, expects it to call `kernels` different kernels, and compares the result
// with XLA's evaluator. Elements of float32 and bfloat16 may differ by `tolerance` times the largest magnitude, which
// counts as at least 1e-3. A tolerance of 0, and other types, require equal bits.
void ExpectSameAsEvaluator(const xla::XlaComputation& computation, const std::vector<xla::Literal>& arguments,
                           size_t kernels, double tolerance);
// Like ExpectSameAsEvaluator, but compares with a recipe without kernels, and does not check the number of kernels. For
// instructions that the evaluator does not support.
void ExpectSameAsXla(const xla::XlaComputation& computation, const std::vector<xla::Literal>& arguments,
                     double tolerance);
// Runs both comparisons above. The tolerance of the comparison with XLA's own code is at least 2e-6, because XLA may
// add in another order.
void ExpectSameWithKernels(const xla::XlaComputation& computation, const std::vector<xla::Literal>& arguments,
                           size_t kernels, double tolerance);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_TESTING_KERNEL_HARNESS_H_
