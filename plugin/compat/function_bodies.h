// Functions as graphs: TensorFlow's FunctionBody, and inlining of function calls.
#ifndef HPU_PLUGIN_COMPAT_FUNCTION_BODIES_H_
#define HPU_PLUGIN_COMPAT_FUNCTION_BODIES_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
// The plugin uses these members of FunctionBody: graph (owned by the body), arg_types, ret_types,
// arg_nodes, ret_nodes and control_ret_nodes. The lists of nodes do not follow later changes of the graph.
#include "tensorflow/core/common_runtime/function_body.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op_def.pb.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu {

// The function's graph, with the function's attributes bound. Fails with NOT_FOUND if the library lacks the function.
absl::StatusOr<std::unique_ptr<tensorflow::FunctionBody>> MakeFunctionBody(
    const tensorflow::NameAttrList& function, const tensorflow::FunctionLibraryDefinition& library);

// The graph of a function without attributes. The library contains the functions that `function` calls.
absl::StatusOr<std::unique_ptr<tensorflow::FunctionBody>> MakeFunctionBody(
    const tensorflow::FunctionDef& function, const tensorflow::FunctionLibraryDefinition& library);

// The graph of a function of the runtime's library. The runtime owns the body.
absl::StatusOr<const tensorflow::FunctionBody*> InstantiateBody(const std::string& function,
                                                                tensorflow::AttrSlice attrs,
                                                                tensorflow::FunctionLibraryRuntime* runtime);

// Signature of the function. The body owns it.
const tensorflow::OpDef& SignatureOf(const tensorflow::FunctionBody& body);

// The function that a node calls, with its attributes. The node is a PartitionedCall, or its op is the function's name.
absl::StatusOr<tensorflow::NameAttrList> CalledFunction(const tensorflow::NodeDef& call);

// Replaces `call` by the nodes of its function. Returns false and changes nothing if the function is not in the library
// or must not be inlined. `even_noinline` ignores the function's attribute _noinline, which jit_compile functions have.
// `keep_name` leaves a NoOp of the call's name, which runs after the function's effects.
absl::StatusOr<bool> InlineCall(tensorflow::Node* call, tensorflow::Graph* graph,
                                const tensorflow::FunctionLibraryDefinition& library, bool even_noinline = false,
                                bool keep_name = false);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPAT_FUNCTION_BODIES_H_
