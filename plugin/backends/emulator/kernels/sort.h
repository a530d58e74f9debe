// Kernel for sorts and top-k selections.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_SORT_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_SORT_H_

#include <cstdint>
#include <vector>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Keys [outer, size, inner] are sorted along their middle dimension. Floats are in total order: -NaN, -inf, -0, 0, inf,
// NaN. The sort is stable.
struct Sort {
  enum Type : int64_t { kFloat, kSigned, kUnsigned };
  // Codes in `results`, one for each result. A positive code is the element size, in bytes, of another operand. The
  // result holds the elements of that operand in the order of the sorted keys.
  static constexpr int64_t kKeys = 0;
  static constexpr int64_t kIndices = -1;  // positions of the keys in the operand, int32

  Type type = kFloat;
  int64_t key_bytes = 4;  // 1, 2 or 4
  bool descending = false;
  int64_t outer = 1;
  int64_t size = 1;
  int64_t inner = 1;
  int64_t count = 1;  // results hold the first `count` of `size` elements
  std::vector<int64_t> results;

  // Operands: the keys, and one array for each result that holds elements of another operand.
  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_SORT_H_
