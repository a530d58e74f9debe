// Bounded dynamic shapes: rewrites a program with dynamic dimensions into a program with static shapes only.
#ifndef HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_BOUNDED_SHAPES_H_
#define HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_BOUNDED_SHAPES_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/compiler/dynamic_shapes/size_arithmetic.h"
#include "plugin/compiler/dynamic_shapes/size_symbols.h"
#include "xla/hlo/builder/xla_computation.h"
#include "xla/service/hlo.pb.h"

namespace hpu {

struct StaticProgram {
  xla::HloModuleProto hlo;
  // One entry per result of the original program. A dynamic result is compact (compact_arrays.h).
  std::vector<SizeIndices> results;
  // Number of dynamic dimensions of all results.
  int sizes = 0;
  // Computes the sizes of these dimensions from the symbols. Null without symbols: the program then has one more
  // result, the sizes, int32.
  std::shared_ptr<const SizeArithmetic> arithmetic;
  // Conditions on the symbols: those of RequireAtLaunch, and equalities of sizes that are not proven.
  std::vector<std::shared_ptr<const SizeArithmetic>> conditions;
};

// Whether any array of the program has a dynamic dimension.
bool HasDynamicShapes(const xla::HloModuleProto& program);

// Rewrites `program`, which accepts static arrays and returns a tuple of arrays. Fails with the errors of XLA's dynamic
// padder. Fails with UNIMPLEMENTED for a reduce-window with padding of a dynamic dimension, and if the padder leaves
// dynamic shapes. With symbols, also if a result's size depends on anything else than the symbols.
absl::StatusOr<StaticProgram> RemoveDynamicShapes(const xla::XlaComputation& program,
                                                  const SizeParameter& symbols = SizeParameter());

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_BOUNDED_SHAPES_H_
