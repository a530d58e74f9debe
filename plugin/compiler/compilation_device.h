// XLA_HPU_JIT: the symbolic device for which clusters are lowered. Its registered ops and types decide what can be
// compiled for the HPU.
#ifndef HPU_PLUGIN_COMPILER_COMPILATION_DEVICE_H_
#define HPU_PLUGIN_COMPILER_COMPILATION_DEVICE_H_

#include "absl/strings/string_view.h"

namespace hpu {

inline constexpr char kCompilationDevice[] = "XLA_HPU_JIT";

// Whether the op must not be compiled outside jit_compile functions, even if it has a lowering (CompilePolicy in
// op_facts.h). Reasons: the result's size depends on data, the lowering ignores seeds, or errors would be lost.
bool IsKeptFromCompiler(absl::string_view op);

// Whether IsKeptFromCompiler is true for a random op. Such an op runs on its CPU kernel unless a pass rewrites the op.
bool DrawsOnHost(absl::string_view op);

// Registers all lowerings for kCompilationDevice. TensorFlow allows this once per process, before the first
// tf.function runs, so loading the plugin calls this function. Later calls do nothing. Thread safe.
void RegisterLowerings();

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_COMPILATION_DEVICE_H_
