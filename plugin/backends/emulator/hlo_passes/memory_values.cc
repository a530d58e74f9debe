#include "plugin/backends/emulator/hlo_passes/memory_values.h"

#include "absl/algorithm/container.h"

namespace hpu::emulator {

using xla::HloInstruction;
using xla::HloOpcode;

bool IsInMemory(const HloInstruction* value) {
  switch (value->opcode()) {
    case HloOpcode::kBitcast:
    case HloOpcode::kReshape:
      return IsInMemory(value->operand(0));
    case HloOpcode::kConvolution:
    case HloOpcode::kCustomCall:
    case HloOpcode::kDot:
    case HloOpcode::kGetTupleElement:
    case HloOpcode::kParameter:
      return true;
    default:
      return false;
  }
}

bool IsNeededInMemory(const HloInstruction* value) {
  // Convolutions without a kernel do not count, because their code includes padding and transposition.
  return absl::c_all_of(value->users(), [](const HloInstruction* user) {
    switch (user->opcode()) {
      case HloOpcode::kReshape:
        return IsNeededInMemory(user);
      case HloOpcode::kCustomCall:
      case HloOpcode::kDot:
      case HloOpcode::kTuple:
        return true;
      default:
        return false;
    }
  });
}

}  // namespace hpu::emulator
