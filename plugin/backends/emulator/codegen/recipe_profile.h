// RecipeProfile and InstructionTimes: timed instructions of a recipe, and their measured times.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_PROFILE_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_PROFILE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "plugin/base/trace/trace.h"
#include "plugin/hal/recipe.h"

namespace xla {
class HloModule;
}  // namespace xla

namespace hpu::emulator {

// The instructions of a recipe that its code times (HPU_EMULATOR_PROFILE); empty for code that is not timed.
struct RecipeProfile {
  std::vector<hal::InstructionTime> instructions;  // `seconds` is not set
  // Length of the array of cycle counters that an object writes; 1 for thunks. XLA emits trace calls for instructions
  // inside loops only together with these counters, which nothing reads.
  uint32_t counters = 0;
};

// The instructions of `module` that run in sequence, in the order of the computations; with those in loops and branches
// if `inner`. Instructions without work (tuples, bitcasts) are left out.
std::vector<hal::InstructionTime> TimedInstructions(const xla::HloModule& module, bool inner);

// Sums of the run times of a recipe's instructions, and their events in traces. Thread safe.
class InstructionTimes {
 public:
  // `program`: name of the recipe, for traces.
  InstructionTimes(const RecipeProfile& profile, const std::string& program);

  // Calls `run` with the counters, or with null if no instruction is timed. `run` must call the trace functions on this
  // thread when an instruction begins and ends. While a trace is recorded, each instruction is an event.
  void Measure(absl::FunctionRef<void(int64_t* counters)> run);
  // Time of each instruction without the instructions inside it (loops, branches), in the order of the profile.
  std::vector<hal::InstructionTime> Seconds() const;

  // The trace functions, with the signatures of __xla_cpu_runtime_TracingStart and __xla_cpu_runtime_TracingEnd
  // (xla/service/cpu/cpu_runtime.h). Begin returns -1 for an unknown instruction, and End ignores it. Calls outside
  // Measure, as on other threads that run parts of a loop, have no effect.
  static int64_t Begin(const void* options, const char* name);
  static void End(const void* options, int64_t instruction);

 private:
  class Run;

  const RecipeProfile& profile_;
  std::vector<std::shared_ptr<const trace::Instruction>> instructions_;
  absl::flat_hash_map<absl::string_view, int64_t> numbers_;  // key: name of an instruction in profile_
  const std::unique_ptr<std::atomic<int64_t>[]> nanoseconds_;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_PROFILE_H_
