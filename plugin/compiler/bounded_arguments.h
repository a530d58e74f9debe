// Bounded arguments: the arguments of a cluster whose sizes differ from launch to launch.
#ifndef HPU_PLUGIN_COMPILER_BOUNDED_ARGUMENTS_H_
#define HPU_PLUGIN_COMPILER_BOUNDED_ARGUMENTS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/compiler/dynamic_shapes/size_symbols.h"
#include "plugin/compiler/lowering.h"
#include "tensorflow/core/framework/function.h"

namespace hpu {

// A number among the arguments that follows a symbol: a dimension of a parameter, or an element of a compile-time
// constant in row-major order. Its value is the symbol's value plus `offset`.
struct SymbolicNumber {
  int argument = 0;
  int position = 0;
  int symbol = 0;
  int64_t offset = 0;
};

struct BoundedArguments {
  std::vector<ArgumentDescription> arguments;  // with the maximum of each symbolic number
  std::vector<SizeRange> symbols;
  std::vector<SymbolicNumber> numbers;  // by argument, then by position
};

// A dimension, or an element of a compile-time constant. Requires an int32 or int64 constant.
int64_t NumberOf(const ArgumentDescription& argument, int position);
void SetNumber(int position, int64_t value, ArgumentDescription* argument);

// A function with one more argument than the source's function: the symbols' values, an int32 vector. Inside, the
// symbolic numbers follow these values. Compile-time constants with symbolic numbers are arguments without users.
struct BoundedFunction {
  std::unique_ptr<tensorflow::FunctionLibraryDefinition> library;  // has the function under the source's name
  std::vector<ArgumentDescription> arguments;
};

// Fails with UNIMPLEMENTED for a single op.
absl::StatusOr<BoundedFunction> MakeBoundedFunction(const ClusterSource& source, const BoundedArguments& bounded);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_BOUNDED_ARGUMENTS_H_
