#include "plugin/backends/emulator/codegen/recipe_profile.h"

#include <x86intrin.h>

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "plugin/backends/emulator/kernels/recipe_kernels.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/service/hlo_profile_printer_data.pb.h"

namespace hpu::emulator {
namespace {

using CounterOf = absl::flat_hash_map<std::string, uint32_t>;  // key: name of an instruction or computation

// The name of an instruction in the text that XLA reports for it: "%name = …".
std::string NameIn(absl::string_view text) {
  text = text.substr(0, text.find(" = "));
  absl::ConsumePrefix(&text, "ROOT ");
  absl::ConsumePrefix(&text, "%");
  return std::string(text);
}

std::string KindOf(const xla::HloInstruction& instruction) {
  if (!instruction.IsCustomCall(kKernelSymbol)) return instruction.ToCategory();
  // The text after the kernel's number.
  const std::string& text = instruction.raw_backend_config_string();
  return text.substr(text.find(' ') + 1);
}

// To split an instruction over threads, XLA replaces the instruction by a call without metadata. The root of the called
// computation has the metadata.
const xla::OpMetadata& OpOf(const xla::HloInstruction& instruction) {
  if (instruction.opcode() != xla::HloOpcode::kCall || !instruction.metadata().op_name().empty()) {
    return instruction.metadata();
  }
  return instruction.to_apply()->root_instruction()->metadata();
}

void Add(const xla::HloComputation& computation, const CounterOf& instructions, const CounterOf& computations,
         RecipeProfile* profile) {
  for (const xla::HloInstruction* instruction : computation.instructions()) {
    const auto counter = instructions.find(instruction->name());
    if (counter == instructions.end()) continue;
    ProfiledInstruction timed;
    const xla::OpMetadata& op = OpOf(*instruction);
    timed.names = {std::string(instruction->name()), KindOf(*instruction), op.op_name(), op.op_type()};
    timed.counter = counter->second;
    if (instruction->opcode() == xla::HloOpcode::kWhile) {
      for (const xla::HloComputation* called : {instruction->while_condition(), instruction->while_body()}) {
        const auto all = computations.find(called->name());
        if (all == computations.end()) continue;
        timed.inner.push_back(all->second);
        Add(*called, instructions, computations, profile);
      }
    }
    profile->instructions.push_back(std::move(timed));
  }
}

}  // namespace

RecipeProfile ProfileOf(const xla::HloModule& module, const xla::HloProfilePrinterData& data) {
  CounterOf instructions, computations;
  for (const auto& computation : data.computation_infos()) {
    computations[computation.name()] = computation.profile_index();
    for (const auto& instruction : computation.instruction_infos()) {
      instructions[NameIn(instruction.long_name())] = instruction.profile_index();
    }
  }
  RecipeProfile profile;
  profile.counters = data.profile_counters_size();
  Add(*module.entry_computation(), instructions, computations, &profile);
  return profile;
}

ProfileTimes::ProfileTimes(const RecipeProfile& profile)
    : profile_(profile), cycles_(std::make_unique<std::atomic<int64_t>[]>(profile.counters)) {}

void ProfileTimes::Measure(absl::FunctionRef<void(int64_t*)> run) {
  if (profile_.counters == 0) return run(nullptr);
  std::vector<int64_t> counters(profile_.counters);
  const int64_t begin = absl::GetCurrentTimeNanos();
  const int64_t begin_cycles = __rdtsc();
  run(counters.data());
  all_cycles_.fetch_add(__rdtsc() - begin_cycles, std::memory_order_relaxed);
  nanoseconds_.fetch_add(absl::GetCurrentTimeNanos() - begin, std::memory_order_relaxed);
  for (size_t i = 0; i < counters.size(); ++i) cycles_[i].fetch_add(counters[i], std::memory_order_relaxed);
}

std::vector<hal::InstructionTime> ProfileTimes::Seconds() const {
  const double all_cycles = std::max<int64_t>(1, all_cycles_.load(std::memory_order_relaxed));
  const double seconds_each = 1e-9 * nanoseconds_.load(std::memory_order_relaxed) / all_cycles;
  std::vector<hal::InstructionTime> times;
  for (const ProfiledInstruction& instruction : profile_.instructions) {
    int64_t cycles = cycles_[instruction.counter].load(std::memory_order_relaxed);
    for (uint32_t inner : instruction.inner) cycles -= cycles_[inner].load(std::memory_order_relaxed);
    times.push_back(instruction.names);
    times.back().seconds = std::max<int64_t>(0, cycles) * seconds_each;
  }
  return times;
}

}  // namespace hpu::emulator
