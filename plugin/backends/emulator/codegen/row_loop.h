// RowLoop: description of an elementwise loop whose code serves arrays of any size.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_ROW_LOOP_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_ROW_LOOP_H_

#include <cstdint>
#include <vector>

namespace hpu::emulator {

// Size of the arrays in the program of a loop's function. The code takes the bounds of a loop as arguments, so the
// arrays of a call may have any size.
inline constexpr int64_t kRowLoopElements = 1024;
// Maximum of RowOf for loops that share a function.
inline constexpr int64_t kMaxRow = 1 << 16;

// One loop over `elements` elements; loops of different sizes share a function. An operand is a scalar (kScalar), has
// one element for each element of the result (kWhole), or has one element for each feature (kRepeated). Features are
// the positions in the last dimensions of the result.
struct RowLoop {
  enum class Operand : uint8_t { kScalar = 0, kWhole = 1, kRepeated = 2 };

  uint32_t function = 0;  // index in RecipeParts::functions
  int64_t elements = 0;
  int64_t features = 0;  // elements of a repeated operand; 0 if no operand is repeated
  int64_t parts = 1;     // maximum number of parts into which the loop is split
  std::vector<Operand> operands;

  friend bool operator==(const RowLoop& a, const RowLoop& b) {
    return a.function == b.function && a.elements == b.elements && a.features == b.features && a.parts == b.parts &&
           a.operands == b.operands;
  }
};

// Number of elements that one call of the code computes if operands are repeated. It is the smallest multiple of
// `features` that keeps rows aligned and is long enough to amortise the call. Above kMaxRow, the loop needs a separate
// function.
int64_t RowOf(int64_t features);

// Whether the loop describes a call that RowFunction can run, of a function with these numbers of arguments.
bool IsValid(const RowLoop& loop, uint64_t arguments);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_ROW_LOOP_H_
