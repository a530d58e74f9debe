// Analysis of loops that may overwrite their operands with their results.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MEMORY_REUSE_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MEMORY_REUSE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "xla/hlo/analysis/hlo_alias_analysis.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hpu::emulator {

// True if `user` reads each element of `operand` only before it writes the same element of its result.
bool MayOverwrite(const xla::HloDataflowAnalysis& dataflow, xla::HloInstruction* operand, xla::HloInstruction* user);

// Decides which operand an instruction of the entry computation may overwrite with its result. XLA covers fusions, but
// not calls of outlined functions. The module and its analysis must outlive this object unchanged. Thread safe.
class MemoryReuse {
 public:
  MemoryReuse(const xla::HloModule& module, const xla::HloAliasAnalysis& aliases);

  // Index of an operand that the instruction reads element by element and that nothing reads later in any schedule.
  // Nullopt for small arrays, and if the result or the operand shares its memory with another value.
  std::optional<int64_t> OperandToOverwrite(xla::HloInstruction* instruction) const;

 private:
  // Whether the value has its own memory, which nothing reads after `instruction`.
  bool EndsAt(const xla::HloInstruction* value, const xla::HloInstruction* instruction) const;
  // Whether each of `others` is `instruction` or precedes it in every order that respects the dependencies.
  bool RunBefore(const std::vector<const xla::HloInstruction*>& others, const xla::HloInstruction* instruction) const;

  const xla::HloComputation* entry_;
  const xla::HloAliasAnalysis& aliases_;
  absl::flat_hash_map<const xla::HloInstruction*, int64_t> positions_;  // in a post order of the entry computation
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MEMORY_REUSE_H_
