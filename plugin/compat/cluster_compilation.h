// Compilation of a function or an op to HLO by tf2xla.
#ifndef HPU_PLUGIN_COMPAT_CLUSTER_COMPILATION_H_
#define HPU_PLUGIN_COMPAT_CLUSTER_COMPILATION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
// The plugin uses these members:
// - XlaArgument: name, kind (kParameter, kConstant, kResource), resource_kind (XlaResource::kVariable), type, shape,
//   constant_value, initialized
// - XlaCompilationResult: computation, input_mapping, outputs (type, shape, is_constant, constant_value,
//   is_tensor_list, input_index), resource_updates (input_index, type, shape), xla_output_shape
#include "tensorflow/compiler/tf2xla/xla_compiler.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/types.h"

namespace hpu {

// A function of the library, or a single op if `node` is set. Borrowed pointers.
struct CompilationInput {
  std::string device_type;  // the device whose lowerings are used
  const tensorflow::FunctionLibraryDefinition* library = nullptr;
  int graph_def_version = 0;
  const tensorflow::NameAttrList* function = nullptr;
  const tensorflow::NodeDef* node = nullptr;
  std::vector<tensorflow::DataType> node_outputs;  // dtypes of the single op's outputs
};

// The new value of a variable aliases the variable's argument. Constants are evaluated on XLA's host platform. Thread
// safe.
absl::StatusOr<tensorflow::XlaCompilationResult> CompileToHlo(const CompilationInput& input,
                                                              absl::Span<const tensorflow::XlaArgument> arguments);

// Whether an op uses stacks or TensorArrays, according to tf2xla's table of resource ops.
bool UsesStackOrTensorArray(const std::string& op);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPAT_CLUSTER_COMPILATION_H_
