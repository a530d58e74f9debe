// Compiler IR of functions with jit_compile=True: experimental_get_compiler_ir on the HPU.
#ifndef HPU_PLUGIN_COMPILER_COMPILER_IR_H_
#define HPU_PLUGIN_COMPILER_COMPILER_IR_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/hal/device.h"
#include "tensorflow/core/framework/graph.pb.h"

namespace hpu {

using DeviceGetter = std::function<absl::StatusOr<hal::Device*>()>;

// Indices of the arguments that must be compile-time constants. `function` is in the graph's library.
absl::StatusOr<std::vector<int>> ConstantArguments(const tensorflow::GraphDef& graph, const std::string& function);

// The function's IR at a stage of its compilation. The library of `graph` contains the functions. `graph` has one node
// per argument, in argument order. A known value is a Const, a variable with a value is a VarHandleOp, any other tensor
// is a Placeholder. TensorFlow's stages are "hlo", "hlo_no_metadata", "hlo_serialized", "optimized_hlo",
// "optimized_hlo_serialized", "optimized_hlo_proto_serialized" and "optimized_hlo_dot". The stage "recipe" is a table
// of arguments, results and sizes; it compiles the function for the device that `acquire` returns. Fails with
// INVALID_ARGUMENT for an unknown stage. Fails with UNIMPLEMENTED for an optimised stage if the backend does not expose
// its optimised program.
absl::StatusOr<std::string> CompilerIr(const tensorflow::GraphDef& graph, const std::string& function,
                                       absl::string_view stage, const DeviceGetter& acquire);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_COMPILER_IR_H_
