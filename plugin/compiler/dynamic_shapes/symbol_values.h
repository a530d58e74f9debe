// Values of a program that depend on size symbols only, for all values of the symbols.
#ifndef HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_SYMBOL_VALUES_H_
#define HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_SYMBOL_VALUES_H_

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/compiler/dynamic_shapes/size_sources.h"
#include "plugin/compiler/dynamic_shapes/size_symbols.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hpu {

using SymbolSet = std::set<int64_t>;

// Whether an instruction is parameter `number` of its module.
bool IsParameter(const xla::HloInstruction& instruction, int64_t number);

// Finds the symbols on which values depend. Valid as long as the sources are. Not thread safe.
class SymbolDependencies {
 public:
  SymbolDependencies(const SizeParameter& symbols, SizeSources* sources) : symbols_(symbols), sources_(sources) {}

  // Null if the value depends on other values too, or on operations that are not arithmetic on sizes.
  const SymbolSet* Of(const xla::HloInstruction* value);

 private:
  bool Collect(const xla::HloInstruction* source, SymbolSet* set);

  const SizeParameter& symbols_;
  SizeSources* const sources_;
  std::map<const xla::HloInstruction*, std::pair<bool, SymbolSet>> found_;
};

// All values of the symbols of a set, with the minimum for other symbols. Empty if there are more than 2048.
std::vector<std::vector<int64_t>> CombinationsOf(const SymbolSet& set, const std::vector<SizeRange>& ranges);

// The elements of each value, for one combination after the other. The values must depend on symbols only.
absl::StatusOr<std::vector<std::vector<int64_t>>> Tabulate(absl::Span<const xla::HloInstruction* const> values,
                                                           const std::vector<std::vector<int64_t>>& combinations,
                                                           SizeSources* sources);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_SYMBOL_VALUES_H_
