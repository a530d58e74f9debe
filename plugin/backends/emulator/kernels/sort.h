// Sorting, and the first elements of sorted arrays.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_SORT_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_SORT_H_

#include <cstdint>
#include <vector>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Keys[outer][size][inner] are sorted along their middle dimension. Floats are in total order: -NaN, -inf, -0, 0, inf,
// NaN. Equal keys stay in their order.
struct Sort {
  enum Type : int64_t { kFloat, kSigned, kUnsigned };
  // What a result may hold; else it holds the elements of another operand, of so many bytes, in the keys' order.
  static constexpr int64_t kKeys = 0;
  static constexpr int64_t kPlaces = -1;  // of the keys in the operand, int32

  Type type = kFloat;
  int64_t key_bytes = 4;  // or 1 or 2
  bool descending = false;
  int64_t outer = 1;
  int64_t size = 1;
  int64_t inner = 1;
  int64_t count = 1;  // how many of the `size` there are in the results: the first ones
  std::vector<int64_t> results;

  // Operands: the keys, and one for each result that holds the elements of another.
  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_SORT_H_
