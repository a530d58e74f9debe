#include "plugin/compat/function_bodies.h"

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "tensorflow/core/common_runtime/function_def_utils.h"
#include "tensorflow/core/common_runtime/function_utils.h"
#include "tensorflow/core/common_runtime/inline_function_utils.h"

namespace hpu {

using tensorflow::FunctionBody;
using tensorflow::FunctionDef;
using tensorflow::FunctionLibraryDefinition;
using tensorflow::NameAttrList;

namespace {

absl::StatusOr<std::unique_ptr<FunctionBody>> MakeBody(const FunctionDef& function, tensorflow::AttrSlice attrs,
                                                       const FunctionLibraryDefinition& library) {
  std::unique_ptr<FunctionBody> body;
  HPU_RETURN_IF_ERROR(tensorflow::FunctionDefToBodyHelper(function, attrs, &library, &body));
  return body;
}

tensorflow::InlineFunctionBodyOptions InlineOptions() {
  tensorflow::InlineFunctionBodyOptions options;
  // Allowed here, because grappler has already selected the implementation.
  options.inline_impl_selection_group_functions = true;
  options.output_control_src = tensorflow::InlineFunctionBodyOptions::OutputControlSource::kControlOutputs;
  options.inlined_function_body_placer = tensorflow::InlinedFunctionBodyPlacer::MultiDevice();
  return options;
}

}  // namespace

absl::StatusOr<std::unique_ptr<FunctionBody>> MakeFunctionBody(const NameAttrList& function,
                                                               const FunctionLibraryDefinition& library) {
  const FunctionDef* const definition = library.Find(function.name());
  if (definition == nullptr) {
    return absl::NotFoundError(absl::StrCat(
        "function ", function.name(), " is not in the function library; save the graph together with its functions"));
  }
  return MakeBody(*definition, tensorflow::AttrSlice(&function.attr()), library);
}

absl::StatusOr<std::unique_ptr<FunctionBody>> MakeFunctionBody(const FunctionDef& function,
                                                               const FunctionLibraryDefinition& library) {
  return MakeBody(function, tensorflow::AttrSlice(), library);
}

absl::StatusOr<const FunctionBody*> InstantiateBody(const std::string& function, tensorflow::AttrSlice attrs,
                                                    tensorflow::FunctionLibraryRuntime* runtime) {
  tensorflow::FunctionLibraryRuntime::Handle handle;
  HPU_RETURN_IF_ERROR(runtime->Instantiate(function, attrs, &handle));
  return runtime->GetFunctionBody(handle);
}

absl::StatusOr<NameAttrList> CalledFunction(const tensorflow::NodeDef& call) {
  NameAttrList function;
  HPU_RETURN_IF_ERROR(tensorflow::NameAndAttrsFromFunctionCall(call, &function));
  return function;
}

absl::StatusOr<bool> InlineCall(tensorflow::Node* call, tensorflow::Graph* graph,
                                const FunctionLibraryDefinition& library, bool even_noinline, bool keep_name) {
  HPU_ASSIGN_OR_RETURN(const NameAttrList function, CalledFunction(call->def()));
  if (library.Find(function.name()) == nullptr) return false;
  HPU_ASSIGN_OR_RETURN(const std::unique_ptr<FunctionBody> body, MakeFunctionBody(function, library));
  tensorflow::InlineFunctionBodyOptions options = InlineOptions();
  options.ignore_noinline = even_noinline;
  if (keep_name) options.keep_caller_node = tensorflow::InlineFunctionBodyOptions::KeepCallerNode::kTargetable;
  if (!tensorflow::ValidateInlining(call, body.get(), options).ok()) return false;
  HPU_RETURN_IF_ERROR(tensorflow::InlineFunctionBody(library, graph, call, body.get(), options));
  return true;
}

}  // namespace hpu
