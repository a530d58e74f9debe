#include "plugin/passes/analysis/branch_shapes.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "plugin/compat/function_bodies.h"
#include "plugin/passes/analysis/static_shapes.h"
#include "plugin/passes/functions/loop_functions.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::FunctionLibraryDefinition;
using tensorflow::Graph;
using tensorflow::NameAttrList;
using tensorflow::Node;
using tensorflow::PartialTensorShape;

// Functions that call themselves are inlined this often.
constexpr int kMaxInlinedCalls = 100;

std::vector<PartialTensorShape> ShapesAt(const std::vector<Node*>& results, Graph* graph,
                                         const FunctionLibraryDefinition& library) {
  const StaticShapes shapes(graph, &library);
  std::vector<PartialTensorShape> found;
  for (const Node* result : results) found.push_back(shapes.InputShape(*result, 0));
  return found;
}

// TensorFlow infers no shapes through calls.
void InlineCalls(Graph* graph, const FunctionLibraryDefinition& library) {
  std::vector<Node*> calls;
  const auto collect = [&] {
    calls.clear();
    for (Node* node : graph->op_nodes()) {
      if (node->IsPartitionedCall() || library.Contains(node->type_string())) calls.push_back(node);
    }
  };
  collect();
  for (int inlined = 0; !calls.empty() && inlined < kMaxInlinedCalls; collect()) {
    const int before = inlined;
    for (Node* call : calls) inlined += InlineCall(call, graph, library, /*even_noinline=*/true).value_or(false);
    if (inlined == before) return;
  }
}

// Empty if the function is not in the library.
std::vector<PartialTensorShape> ResultShapes(const NameAttrList& function, const FunctionLibraryDefinition& library) {
  const auto body = MakeFunctionBody(function, library);
  if (!body.ok()) return {};
  Graph* const graph = (*body)->graph;
  const std::vector<Node*> results((*body)->ret_nodes.begin(), (*body)->ret_nodes.end());
  const std::vector<PartialTensorShape> shapes = ShapesAt(results, graph, library);
  if (absl::c_none_of(shapes, [](const PartialTensorShape& shape) { return shape.unknown_rank(); })) return shapes;
  InlineCalls(graph, library);
  return ShapesAt(results, graph, library);
}

}  // namespace

std::optional<std::string> WhyShapesDiffer(const Node& node, const FunctionLibraryDefinition& library) {
  std::vector<PartialTensorShape> first;
  for (const NameAttrList& branch : FunctionsOf(node)) {
    std::vector<PartialTensorShape> shapes = ResultShapes(branch, library);
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
