// Autotuner: which of two ways to compute an instruction is the quicker one on this machine, by measurement.
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

// Asked while programs are compiled, never at a launch: the recipe holds what was chosen. Thread safe.
class Autotuner {
 public:
  // Seconds that one call takes.
  struct Times {
    double xla = 0;
    double kernel = 0;
  };
  using Stopwatch = std::function<absl::StatusOr<Times>(const xla::HloModule&)>;

  explicit Autotuner(Stopwatch stopwatch) : stopwatch_(std::move(stopwatch)) {}
  // The process's own, with MeasureTimes.
  static Autotuner& OfProcess();

  // Whether what the passes make of the instruction, with the operands in `inner` that they replace with it, is quicker
  // than XLA's code. Measured once for each instruction and its shapes, one measurement at a time, so that they do not
  // disturb each other. Errors are those of the stopwatch.
  absl::StatusOr<bool> PrefersKernel(const xla::HloInstruction& instruction,
                                     absl::Span<const xla::HloInstruction* const> inner = {})
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  const Stopwatch stopwatch_;
  absl::Mutex mutex_;
  std::map<std::string, bool> preferred_ ABSL_GUARDED_BY(mutex_);
};

// Compiles a program of one result by XLA alone and with kernels, and runs both in turns, for some 10 ms if a call
// takes less than one. The shortest of several times counts: what else runs on the machine only adds. XLA's code runs
// once if it takes ten times as long. Errors: see CompileRecipe.
absl::StatusOr<Autotuner::Times> MeasureTimes(const xla::HloModule& program);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_AUTOTUNER_H_
