#include "plugin/passes/functions/inline_call.h"

#include <memory>

#include "tensorflow/core/common_runtime/function_body.h"
#include "tensorflow/core/common_runtime/function_def_utils.h"
#include "tensorflow/core/common_runtime/function_utils.h"
#include "tensorflow/core/common_runtime/inline_function_utils.h"
#include "tsl/platform/errors.h"

namespace hpu::passes {
namespace {

tensorflow::InlineFunctionBodyOptions Options() {
  tensorflow::InlineFunctionBodyOptions options;
  // Allowed here, because grappler has already selected the implementation.
  options.inline_impl_selection_group_functions = true;
  options.output_control_src = tensorflow::InlineFunctionBodyOptions::OutputControlSource::kControlOutputs;
  options.inlined_function_body_placer = tensorflow::InlinedFunctionBodyPlacer::MultiDevice();
  return options;
}

}  // namespace

absl::StatusOr<bool> InlineCall(tensorflow::Node* call, tensorflow::Graph* graph,
                                const tensorflow::FunctionLibraryDefinition& library) {
  tensorflow::NameAttrList function;
  TF_RETURN_IF_ERROR(tensorflow::NameAndAttrsFromFunctionCall(call->def(), &function));
  const tensorflow::FunctionDef* const definition = library.Find(function.name());
  if (definition == nullptr) return false;
  std::unique_ptr<tensorflow::FunctionBody> body;
  TF_RETURN_IF_ERROR(
      tensorflow::FunctionDefToBodyHelper(*definition, tensorflow::AttrSlice(&function.attr()), &library, &body));
  if (!tensorflow::ValidateInlining(call, body.get(), Options()).ok()) return false;
  TF_RETURN_IF_ERROR(tensorflow::InlineFunctionBody(library, graph, call, body.get(), Options()));
  return true;
}

}  // namespace hpu::passes
