// RecipeProfile and ProfileTimes: timed instructions of a recipe, and their measured times.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_PROFILE_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_PROFILE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "plugin/hal/recipe.h"

namespace xla {
class HloModule;
class HloProfilePrinterData;
}  // namespace xla

namespace hpu::emulator {

// Code that is compiled for timing (HPU_EMULATOR_PROFILE) adds the cycles of each instruction to a counter.
struct ProfiledInstruction {
  hal::InstructionTime names;  // `seconds` is not set
  uint32_t counter = 0;
  std::vector<uint32_t> inner;  // counters of a loop's condition and body, whose instructions have entries too
};

// Part of a recipe; empty for code that is not timed.
struct RecipeProfile {
  std::vector<ProfiledInstruction> instructions;
  uint32_t counters = 0;  // number of counters that the code writes
};

// The instructions of `module` that run in sequence, including instructions in loop conditions and bodies, with their
// counters from `data`.
RecipeProfile ProfileOf(const xla::HloModule& module, const xla::HloProfilePrinterData& data);

// Sums of a recipe's counters over all its runs. Thread safe.
class ProfileTimes {
 public:
  explicit ProfileTimes(const RecipeProfile& profile);

  // Calls `run` with zeroed counters, which the code increments, and adds the counters to the sums. Passes null if no
  // instruction is timed.
  void Measure(absl::FunctionRef<void(int64_t* counters)> run);
  // Time of each instruction, in the order of the profile.
  std::vector<hal::InstructionTime> Seconds() const;

 private:
  const RecipeProfile& profile_;
  const std::unique_ptr<std::atomic<int64_t>[]> cycles_;
  // Totals over all runs, which convert cycles to seconds.
  std::atomic<int64_t> all_cycles_{0};
  std::atomic<int64_t> nanoseconds_{0};
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_PROFILE_H_
