#include "plugin/passes/precision/fp32_math_pass.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/status_macros.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/functions/function_rewriter.h"
#include "plugin/passes/graph/node_maker.h"

namespace hpu::passes {
namespace {

using tensorflow::DT_BFLOAT16;
using tensorflow::DT_FLOAT;
using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;

// Whether a node's values are already rounded to bfloat16.
bool IsRounded(const Node& source) { return source.type_string() == "Cast" && source.input_type(0) == DT_BFLOAT16; }

absl::StatusOr<Node*> Round(Graph* graph, const Edge& edge) {
  const Node& user = *edge.dst();
  const NodeMaker maker(graph, edge.src()->name(),
                        user.has_assigned_device_name() ? user.assigned_device_name() : user.requested_device());
  HPU_ASSIGN_OR_RETURN(Node * rounded, maker.Cast("rounded", {edge.src(), edge.src_output()}, DT_BFLOAT16));
  return maker.Cast("to_float", rounded, DT_FLOAT);
}

absl::StatusOr<bool> RoundOperands(PassContext* context, Graph* graph, const FunctionRewriter::NodeFilter& filter,
                                   const std::string& prefix) {
  std::vector<const Edge*> operands;
  for (Node* node : graph->op_nodes()) {
    if (!FactsOf(node->type_string()).product || !filter(*node)) continue;
    const size_t before = operands.size();
    for (int i = 0; i < node->num_inputs(); ++i) {
      const Edge* edge = nullptr;
      HPU_RETURN_IF_ERROR(node->input_edge(i, &edge));
      if (node->input_type(i) == DT_FLOAT && !IsRounded(*edge->src())) operands.push_back(edge);
    }
    if (operands.size() == before) continue;
    AddRewrite(&context->report, prefix + node->name(), node->type_string(), "fp32_math",
               "operands rounded to bfloat16, because of HPU_FP32_MATH=bfloat16");
  }
  absl::flat_hash_map<std::pair<const Node*, int>, Node*> rounded;
  for (const Edge* edge : operands) {
    Node*& source = rounded[{edge->src(), edge->src_output()}];
    if (source == nullptr) {
      HPU_ASSIGN_OR_RETURN(source, Round(graph, *edge));
    }
    Node* user = edge->dst();
    const int input = edge->dst_input();
    graph->RemoveEdge(edge);
    graph->AddEdge(source, 0, user, input);
  }
  return !operands.empty();
}

}  // namespace

absl::Status RoundOperandsOfProducts(PassContext* context) {
  if (flags::Fp32Math() != flags::Fp32MathSetting::kBfloat16) return absl::OkStatus();
  const auto rewrite = [&](Graph* graph, const FunctionRewriter::NodeFilter& filter, const std::string& prefix) {
    return RoundOperands(context, graph, filter, prefix);
  };
  return FunctionRewriter(context, "_rounded", rewrite).Run();
}

}  // namespace hpu::passes
