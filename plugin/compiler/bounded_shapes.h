// Bounded dynamic shapes: rewrites a program with dynamic dimensions into a program with static shapes only.
#ifndef HPU_PLUGIN_COMPILER_BOUNDED_SHAPES_H_
#define HPU_PLUGIN_COMPILER_BOUNDED_SHAPES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/compiler/executable.h"
#include "xla/client/xla_computation.h"
#include "xla/service/hlo.pb.h"

namespace hpu {

struct StaticProgram {
  xla::HloModuleProto hlo;
  // One entry per result of the original program. A dynamic result's elements come first in the static result, in
  // row-major order, followed by padding.
  std::vector<SizeIndices> results;
  // Number of dynamic dimensions of all results. If nonzero, the program has one more result: the sizes of these
  // dimensions, int32.
  int sizes = 0;
};

// Whether any array of the program has a dynamic dimension.
bool HasDynamicShapes(const xla::HloModuleProto& program);

// Rewrites `program`, which accepts static arrays and returns a tuple of arrays. Fails with the errors of XLA's dynamic
// padder. Fails with UNIMPLEMENTED for a reduce-window with padding of a dynamic dimension, and if the padder leaves
// dynamic shapes.
absl::StatusOr<StaticProgram> RemoveDynamicShapes(const xla::XlaComputation& program);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_BOUNDED_SHAPES_H_
