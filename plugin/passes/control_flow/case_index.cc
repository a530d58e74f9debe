#include "plugin/passes/control_flow/case_index.h"

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "tensorflow/core/framework/node_def_builder.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/graph/node_builder.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::FunctionDef;
using tensorflow::Graph;
using tensorflow::Node;
using tensorflow::NodeDef;

// Grappler treats this op as a placeholder, and does not fold placeholders.
constexpr char kHidingOp[] = "PlaceholderWithDefault";
constexpr char kSuffix[] = "/hidden_index";

bool IsStatefulCase(const NodeDef& node, const char* lowered) {
  const auto found = node.attr().find(lowered);
  return node.op() == "Case" && found != node.attr().end() && found->second.b();
}

absl::Status HideIndex(Graph* graph, Node* node) {
  const Edge* index = nullptr;
  HPU_RETURN_IF_ERROR(node->input_edge(0, &index));
  if (index->src()->type_string() == kHidingOp) return absl::OkStatus();
  Node* hidden = nullptr;
  HPU_RETURN_IF_ERROR(
      tensorflow::NodeBuilder(graph->NewName(absl::StrCat(node->name(), kSuffix)), kHidingOp, graph->op_registry())
          .Input(index->src(), index->src_output())
          .Attr("shape", tensorflow::TensorShape())
          .Device(node->requested_device())
          .Finalize(graph, &hidden));
  return graph->UpdateEdge(hidden, 0, node, 0);
}

// The new node names are unique, because no other node has this suffix.
absl::Status HideIndices(FunctionDef* function, const char* lowered) {
  std::vector<NodeDef> added;
  for (NodeDef& node : *function->mutable_node_def()) {
    if (!IsStatefulCase(node, lowered) || absl::EndsWith(node.input(0), absl::StrCat(kSuffix, ":output:0"))) continue;
    NodeDef& hidden = added.emplace_back();
    HPU_RETURN_IF_ERROR(tensorflow::NodeDefBuilder(absl::StrCat(node.name(), kSuffix), kHidingOp)
                            .Input("index", 0, tensorflow::DT_INT32)
                            .Attr("shape", tensorflow::TensorShape())
                            .Device(node.device())
                            .Finalize(&hidden));
    *hidden.mutable_input(0) = node.input(0);
    *node.mutable_input(0) = absl::StrCat(hidden.name(), ":output:0");
  }
  for (NodeDef& node : added) *function->add_node_def() = std::move(node);
  return absl::OkStatus();
}

}  // namespace

absl::Status HideCaseIndices(Graph* graph, tensorflow::FunctionLibraryDefinition* library, const char* lowered) {
  std::vector<Node*> cases;
  absl::c_copy_if(graph->op_nodes(), std::back_inserter(cases),
                  [&](const Node* node) { return IsStatefulCase(node->def(), lowered); });
  for (Node* node : cases) HPU_RETURN_IF_ERROR(HideIndex(graph, node));
  for (const std::string& name : library->ListFunctionNames()) {
    const FunctionDef* function = library->Find(name);
    if (absl::c_none_of(function->node_def(), [&](const NodeDef& node) { return IsStatefulCase(node, lowered); })) {
      continue;
    }
    FunctionDef changed = *function;
    HPU_RETURN_IF_ERROR(HideIndices(&changed, lowered));
    HPU_RETURN_IF_ERROR(library->ReplaceFunction(name, changed));
  }
  return absl::OkStatus();
}

}  // namespace hpu::passes
