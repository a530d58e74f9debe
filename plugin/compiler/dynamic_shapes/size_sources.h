// SizeSources: where the sizes in a program come from.
#ifndef HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_SIZE_SOURCES_H_
#define HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_SIZE_SOURCES_H_

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "plugin/compiler/dynamic_shapes/size_symbols.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu {

// Follows values through tuples, through loops that keep them, and through branches. Valid as long as the module is
// unchanged. Not thread safe.
class SizeSources {
 public:
  // Finds the integers that loops keep. The proof is by induction: if these have their first values at the start of a
  // turn, they have them at its end, for all values of the symbols.
  SizeSources(const xla::HloModule& module, const SizeParameter& symbols);

  // The instruction that computes the value of `value`; often `value` itself.
  const xla::HloInstruction* SourceOf(const xla::HloInstruction* value);

 private:
  // A loop, and the index of an element of its state.
  using Element = std::pair<const xla::HloInstruction*, int64_t>;

  // The source of element `index` of a tuple, or null if no instruction computes it.
  const xla::HloInstruction* ElementOf(const xla::HloInstruction* tuple, int64_t index);
  const xla::HloInstruction* ElementOfParameter(const xla::HloInstruction& parameter, int64_t index);
  const xla::HloInstruction* ElementOfBranches(const xla::HloInstruction& branches, int64_t index);
  // Whether a turn of the loop keeps an element, if all elements of `kept_` have their first values.
  bool Keeps(const Element& element, const SizeParameter& symbols);

  // The only caller of each computation; null if there are several.
  absl::flat_hash_map<const xla::HloComputation*, const xla::HloInstruction*> callers_;
  absl::flat_hash_set<Element> kept_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_SIZE_SOURCES_H_
