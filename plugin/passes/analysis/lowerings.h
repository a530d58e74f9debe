// Ops that XLA can compile for the HPU, and error texts for jit_compile=True functions that cannot be compiled.
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

// Whether an op with these attributes has a lowering. TensorFlow's kernel lookup also finds kernels for all kinds of
// devices (DEVICE_DEFAULT), which crash the process when they run in the compiler; they do not count. Functions have no
// lowering.
bool HasLowering(const tensorflow::NodeDef& node);

// User-readable reason why an op has no lowering: "calls Python". The op must be registered.
std::string WhyNoLowering(const tensorflow::NodeDef& node);

// Fails with INVALID_ARGUMENT if a function, or one that it calls, has ops that certainly cannot be compiled; the error
// names them. Only ops that the function's results or effects need count. Ops that the compiler may still fold to a
// constant do not count, because the compiler reports those itself. `exempt` returns true for ops that need no
// lowering.
absl::Status CheckLowerings(const std::string& function, const tensorflow::FunctionLibraryDefinition& library,
                            const std::function<bool(std::string_view op)>& exempt);

// The error that a user sees for a function with jit_compile=True: what failed, why, and what to do.
absl::Status MustCompileFailure(const std::string& function, const tensorflow::FunctionLibraryDefinition& library,
                                const absl::Status& failure, const std::vector<std::string>& nodes);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_LOWERINGS_H_
