#include "plugin/passes/analysis/branch_shapes.h"

#include "absl/strings/str_cat.h"
#include "plugin/compat/function_bodies.h"
#include "plugin/passes/analysis/static_shapes.h"
#include "plugin/passes/functions/loop_functions.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::NameAttrList;
using tensorflow::Node;
using tensorflow::PartialTensorShape;

// Empty if the function cannot be instantiated.
std::vector<PartialTensorShape> ResultShapes(const NameAttrList& function,
                                             tensorflow::FunctionLibraryRuntime* runtime) {
  const auto body = InstantiateBody(function.name(), tensorflow::AttrSlice(&function.attr()), runtime);
  if (!body.ok()) return {};
  const StaticShapes shapes((*body)->graph, runtime->GetFunctionLibraryDefinition());
  std::vector<PartialTensorShape> results;
  for (const Node* result : (*body)->ret_nodes) results.push_back(shapes.InputShape(*result, 0));
  return results;
}

}  // namespace

std::optional<std::string> WhyShapesDiffer(const Node& node, tensorflow::FunctionLibraryRuntime* runtime) {
  std::vector<PartialTensorShape> first;
  for (const NameAttrList& branch : FunctionsOf(node)) {
    std::vector<PartialTensorShape> shapes = ResultShapes(branch, runtime);
    if (first.empty()) first = std::move(shapes);
    for (size_t i = 0; i < shapes.size() && i < first.size(); ++i) {
      if (shapes[i].IsCompatibleWith(first[i])) continue;
      return absl::StrCat("its branches return different shapes, ", first[i].DebugString(), " and ",
                          shapes[i].DebugString(), ", and the choice depends on data");
    }
  }
  return std::nullopt;
}

}  // namespace hpu::passes
