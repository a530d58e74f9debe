#include "plugin/backends/emulator/codegen/row_loop.h"

#include <algorithm>
#include <numeric>

namespace hpu::emulator {

int64_t RowOf(int64_t features) {
  // XLA assumes that buffers are aligned to 16 bytes.
  constexpr int64_t kAlignment = 16;
  // Calls of shorter rows take longer than the rows.
  constexpr int64_t kShortRow = 1024;
  const int64_t aligned = std::lcm(features, kAlignment);
  return aligned * std::max<int64_t>(1, (kShortRow + aligned - 1) / aligned);
}

bool IsValid(const RowLoop& loop, uint64_t arguments) {
  if (loop.elements < 1 || loop.parts < 1 || loop.features < 0 || loop.operands.size() != arguments) return false;
  const bool repeats = std::count(loop.operands.begin(), loop.operands.end(), RowLoop::Operand::kRepeated) > 0;
  const bool known = std::all_of(loop.operands.begin(), loop.operands.end(),
                                 [](RowLoop::Operand operand) { return operand <= RowLoop::Operand::kRepeated; });
  if (!known || repeats != (loop.features > 0)) return false;
  return !repeats || (loop.features <= kMaxRow && RowOf(loop.features) <= kMaxRow);
}

}  // namespace hpu::emulator
