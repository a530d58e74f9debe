// Lookup of XLA lowerings for the HPU, and error texts for jit_compile=True functions that cannot be compiled.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_LOWERINGS_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_LOWERINGS_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/node_def.pb.h"

namespace hpu::passes {

// Whether an op with these attributes has a lowering. Ignores kernels for DEVICE_DEFAULT, which TensorFlow's kernel
// lookup also finds: such a kernel would crash the process in the compiler. Functions have no lowering.
bool HasLowering(const tensorflow::NodeDef& node);

// User-readable reason why an op has no lowering: "calls Python".
std::string WhyNoLowering(const tensorflow::NodeDef& node);

// Fails with INVALID_ARGUMENT if a function, or a function that it calls, contains ops that cannot be compiled; the
// error names the ops. Ignores ops that neither a result nor a side effect needs. Also returns OK if the compiler may
// fold all these ops into constants; the compiler then reports the ops that it cannot fold. `exempt` returns true for
// ops that need no lowering.
absl::Status CheckLowerings(const std::string& function, const tensorflow::FunctionLibraryDefinition& library,
                            const std::function<bool(std::string_view op)>& exempt);

// The error that a user sees for a function with jit_compile=True: what failed, why, and what to do.
absl::Status MustCompileFailure(const std::string& function, const tensorflow::FunctionLibraryDefinition& library,
                                const absl::Status& failure, const std::vector<std::string>& nodes);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_LOWERINGS_H_
