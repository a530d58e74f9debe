// Loops that write their results over what they read.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MEMORY_REUSE_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MEMORY_REUSE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/service/hlo_alias_analysis.h"

namespace hpu::emulator {

// True if `user` has read an element of `operand` before it writes that of its result, and reads it only then.
bool MayOverwrite(const xla::HloDataflowAnalysis& dataflow, xla::HloInstruction* operand, xla::HloInstruction* user);

// Which of its operands an instruction of the entry computation may overwrite with its result. XLA decides that for
// fusions by itself, but knows nothing of it where they are calls of functions. The module, and its analysis, have to
// outlive this and stay as they are. Threads may share it.
class MemoryReuse {
 public:
  MemoryReuse(const xla::HloModule& module, const xla::HloAliasAnalysis& aliases);

  // An operand that is read element by element, and by nothing else later, whatever the schedule. Nothing for small
  // arrays, and where the result or the operand lies in the memory of something else.
  std::optional<int64_t> OperandToOverwrite(xla::HloInstruction* instruction) const;

 private:
  // Whether the value, which `instruction` reads, is in memory of its own that nothing needs later.
  bool EndsAt(const xla::HloInstruction* value, const xla::HloInstruction* instruction) const;
  // Whether all of them come before the instruction in every order that keeps its dependencies, or are the instruction.
  bool ComeBefore(const std::vector<const xla::HloInstruction*>& others, const xla::HloInstruction* instruction) const;

  const xla::HloComputation* entry_;
  const xla::HloAliasAnalysis& aliases_;
  absl::flat_hash_map<const xla::HloInstruction*, int64_t> positions_;  // in one such order of the entry computation
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MEMORY_REUSE_H_
