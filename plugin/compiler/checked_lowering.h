// Checked lowerings: lowerings of tf2xla and the plugin with checks of arguments and results.
#ifndef HPU_PLUGIN_COMPILER_CHECKED_LOWERING_H_
#define HPU_PLUGIN_COMPILER_CHECKED_LOWERING_H_

#include "absl/strings/string_view.h"
#include "tensorflow/core/framework/kernel_def.pb.h"

namespace hpu {

// The lowerings themselves are registered for kUncheckedDevice, the checked lowerings for kCompilationDevice.
inline constexpr char kUncheckedDevice[] = "XLA_HPU_JIT_UNCHECKED";

// Whether the lowerings of an op are checked. False for ops without a computation of their own: arguments, results,
// functional control flow and calls.
bool IsChecked(absl::string_view op);

// Registers a checked lowering for kCompilationDevice around the lowering that `unchecked` registers for
// kUncheckedDevice.
//
// The checks refuse arguments that TensorFlow's CPU kernel refuses. Without these checks, a lowering of tf2xla might
// crash the process, read out of bounds or compute a wrong result. The checks run in this order:
//   1. dynamic sizes (dynamic_operands.h)
//   2. the op's shape function, with the shapes and compile-time constants of this call
//   3. rules for arguments that only the CPU kernel refuses (argument_rules.h)
//   4. empty sums: the result is zero, and the lowering does not run
//   5. the lowering; its exceptions become errors
//   6. results must have the op's types and the shape function's shapes
// Internal ops (names that start with `_`) have the checks 1 and 5 only; so do ops with function attributes, with
// string or variant operands or results, or with resource results. A failing op leaves its cluster, and its CPU kernel
// runs. A jit_compile=True function fails instead.
void RegisterCheckedLowering(const tensorflow::KernelDef& unchecked);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_CHECKED_LOWERING_H_
