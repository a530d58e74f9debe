// RecipeProfile: which instructions of a recipe are timed, and how long they have taken.
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

// Code that is compiled to be timed (HPU_EMULATOR_PROFILE) adds the cycles of each instruction to a counter.
struct ProfiledInstruction {
  hal::InstructionTime names;  // without its time
  uint32_t counter = 0;
  std::vector<uint32_t> inner;  // counters of a loop's functions, whose instructions are listed by themselves
};

// Part of a recipe; empty for code that is not timed.
struct RecipeProfile {
  std::vector<ProfiledInstruction> instructions;
  uint32_t counters = 0;  // how many the code writes
};

// The instructions of `module` that run one after the other, loops' bodies included, with the counters that `data`
// gives them.
RecipeProfile ProfileOf(const xla::HloModule& module, const xla::HloProfilePrinterData& data);

// The counters of one recipe over all its runs. Thread safe.
class ProfileTimes {
 public:
  explicit ProfileTimes(const RecipeProfile& profile);

  // Calls `run` with zeroed counters for the code to write, null if nothing is timed, and keeps what it wrote.
  void Measure(absl::FunctionRef<void(int64_t* counters)> run);
  // In the order of the profile.
  std::vector<hal::InstructionTime> Seconds() const;

 private:
  const RecipeProfile& profile_;  // the recipe's
  const std::unique_ptr<std::atomic<int64_t>[]> cycles_;
  // Over all runs, which tells how long a cycle is.
  std::atomic<int64_t> all_cycles_{0};
  std::atomic<int64_t> nanoseconds_{0};
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_PROFILE_H_
