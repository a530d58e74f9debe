// AlignedOperands: copies of operands that outlined functions need at the start of a cache line.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_ALIGNED_OPERANDS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_ALIGNED_OPERANDS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/types/span.h"
#include "plugin/backends/emulator/codegen/recipe_parts.h"

namespace hpu::emulator {

// Aligned copies of small operands. XLA aligns a constant to the constant's size, but functions expect each operand at
// the start of a cache line. The memory is kept between calls, so that not every call allocates. Not thread safe.
class AlignedOperands {
 public:
  // Returns the operands; copies each operand that is shorter than a cache line and does not start at one. `bytes`:
  // sizes of the operands. The result is valid until the next call.
  const void* const* Of(const void* const* operands, absl::Span<const uint64_t> bytes) {
    bool aligned = true;
    for (size_t i = 0; i < bytes.size(); ++i) aligned = aligned && !NeedsCopy(operands[i], bytes[i]);
    if (aligned) return operands;
    operands_.assign(operands, operands + bytes.size());
    if (lines_.size() < bytes.size()) lines_.resize(bytes.size());
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (!NeedsCopy(operands[i], bytes[i])) continue;
      std::memcpy(lines_[i].bytes, operands[i], bytes[i]);
      operands_[i] = lines_[i].bytes;
    }
    return operands_.data();
  }

 private:
  struct alignas(kWorkspaceAlignment) Line {
    char bytes[kWorkspaceAlignment];
  };

  static bool NeedsCopy(const void* operand, uint64_t bytes) {
    return bytes < kWorkspaceAlignment && reinterpret_cast<uintptr_t>(operand) % kWorkspaceAlignment != 0;
  }

  std::vector<const void*> operands_;
  std::vector<Line> lines_;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_ALIGNED_OPERANDS_H_
