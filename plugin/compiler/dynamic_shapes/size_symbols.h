// Sizes of a program that differ from launch to launch.
#ifndef HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_SIZE_SYMBOLS_H_
#define HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_SIZE_SYMBOLS_H_

#include <cstdint>
#include <vector>

namespace hpu {

// For each dimension of a result: the index of its size among the program's sizes, or -1 for a static dimension. Empty
// for static results.
using SizeIndices = std::vector<int>;

// The values that a symbol may have, both ends included.
struct SizeRange {
  int64_t min = 0;
  int64_t max = 0;
};

// The parameter of a program that holds the symbols' values: an int32 vector.
struct SizeParameter {
  int64_t number = -1;            // of the parameter; -1 if the program does not read the symbols
  std::vector<SizeRange> ranges;  // one for each symbol
};

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_SIZE_SYMBOLS_H_
