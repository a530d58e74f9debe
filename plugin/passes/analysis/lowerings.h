// Which ops XLA can compile for the HPU, and why functions with jit_compile=True cannot be compiled.
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

// Whether an op with these attributes has a lowering. TensorFlow's look-up of kernels also finds those for all kinds of
// devices (DEVICE_DEFAULT), which end the process when they run in the compiler. Functions have none.
bool HasLowering(const tensorflow::NodeDef& node);

// Why an op without a lowering has none, for people: "calls Python". Its op must be registered.
std::string WhyNoLowering(const tensorflow::NodeDef& node);

// InvalidArgument that names the ops of a function, and of those that it calls, that cannot be compiled for certain.
// Only ops that the function's results or effects need count, and none that the compiler may yet fold to a constant:
// it finds those itself. `exempt` says of ops that they need no lowering.
absl::Status CheckLowerings(const std::string& function, const tensorflow::FunctionLibraryDefinition& library,
                            const std::function<bool(std::string_view op)>& exempt);

// The failure of a function with jit_compile=True, for people: what, why, what to do.
absl::Status MustCompileFailure(const std::string& function, const tensorflow::FunctionLibraryDefinition& library,
                                const absl::Status& failure, const std::vector<std::string>& nodes);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_LOWERINGS_H_
