// Autotuner: choice between XLA's code and a kernel for an instruction, by measurement on this machine.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_AUTOTUNER_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_AUTOTUNER_H_

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Measures at compile time, never at a launch, because the recipe stores the choice. Thread safe.
class Autotuner {
 public:
  // Duration of one call in seconds.
  struct Times {
    double xla = 0;
    double kernel = 0;
  };
  using Stopwatch = std::function<absl::StatusOr<Times>(const xla::HloModule&)>;

  explicit Autotuner(Stopwatch stopwatch) : stopwatch_(std::move(stopwatch)) {}
  // The process-wide instance, which measures with MeasureTimes.
  static Autotuner& OfProcess();

  // Whether a kernel that replaces the instruction, together with its operands in `inner`, is faster than XLA's code.
  // Equal instructions (operation, attributes and shapes) are measured once. Measurements run one at a time, so that
  // they do not disturb each other. Fails with the stopwatch's errors.
  absl::StatusOr<bool> PrefersKernel(const xla::HloInstruction& instruction,
                                     absl::Span<const xla::HloInstruction* const> inner = {})
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  const Stopwatch stopwatch_;
  absl::Mutex mutex_;
  std::map<std::string, bool> preferred_ ABSL_GUARDED_BY(mutex_);
};

// Compiles a program with one result twice, with and without kernels, and runs both in turn. The runs take about 12 ms
// if a call takes less than 1 ms. Returns the shortest of several times, because other load only lengthens a run. If
// XLA's code takes more than ten times as long as the kernels in the first round, later rounds are skipped. Errors: see
// CompileRecipe.
absl::StatusOr<Autotuner::Times> MeasureTimes(const xla::HloModule& program);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_AUTOTUNER_H_
