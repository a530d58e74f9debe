#include "plugin/passes/control_flow/placeholder_pass.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "plugin/base/status_macros.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/analysis/variable_updates.h"
#include "plugin/passes/functions/function_rewriter.h"
#include "plugin/passes/functions/loop_functions.h"
#include "plugin/passes/graph/graph_names.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/node_maker.h"
#include "plugin/passes/graph/settings.h"
#include "plugin/passes/reporting/pass_context.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/graph/algorithm.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::FunctionBody;
using tensorflow::FunctionLibraryDefinition;
using tensorflow::Graph;
using tensorflow::Node;
using tensorflow::OutputTensor;

// The output that a function returns, without identities.
OutputTensor Returned(const FunctionBody& function, size_t result) {
  OutputTensor tensor = InputOf(*function.ret_nodes[result], 0);
  while (tensor.node->IsIdentity()) tensor = InputOf(*tensor.node, 0);
  return tensor;
}

// Copies nodes from one branch to another branch of the same node.
class Copier {
 public:
  Copier(const FunctionBody& from, const FunctionBody& to, const FunctionLibraryDefinition& library)
      : from_(from), to_(to), library_(library) {}

  // Returns a copy of the node with all nodes that compute its inputs; null if one of them has effects.
  absl::StatusOr<Node*> Copy(const Node* node) {
    if (const auto found = copies_.find(node); found != copies_.end()) return found->second;
    if (node->IsArg()) {
      const int argument = LoopValueOf(from_, node);
      return argument < 0 ? nullptr : to_.arg_nodes[argument];
    }
    if (MayHaveEffects(*node)) return nullptr;
    std::vector<std::pair<Node*, int>> sources;
    std::vector<const Edge*> inputs;
    HPU_RETURN_IF_ERROR(node->input_edges(&inputs));
    for (const Edge* edge : inputs) {
      HPU_ASSIGN_OR_RETURN(Node * source, Copy(edge->src()));
      if (source == nullptr) return nullptr;
      sources.emplace_back(source, edge->src_output());
    }
    tensorflow::NodeDef definition = node->def();
    definition.set_name(to_.graph->NewName(node->name()));
    definition.clear_input();
    HPU_ASSIGN_OR_RETURN(Node * copy, to_.graph->AddNode(std::move(definition)));
    for (size_t i = 0; i < sources.size(); ++i)
      to_.graph->AddEdge(sources[i].first, sources[i].second, copy, static_cast<int>(i));
    copies_[node] = copy;
    return copy;
  }

 private:
  bool MayHaveEffects(const Node& node) const {
    const OpFacts& facts = FactsOf(node.type_string());
    if (!node.op_def().is_stateful() || facts.only_reads) return false;
    const std::vector<tensorflow::NameAttrList> functions = FunctionsOf(node);
    if (!functions.empty()) {
      return absl::c_any_of(functions, [&](const auto& function) { return UpdatesVariables(function, library_); });
    }
    return UpdatesVariable(node) || facts.random == RandomNumbers::kNone;
  }

  const FunctionBody& from_;
  const FunctionBody& to_;
  const FunctionLibraryDefinition& library_;
  absl::flat_hash_map<const Node*, Node*> copies_;
};

// Replaces a placeholder in the branch `to` by zeros like a tensor in the branch `from`. Returns whether it did.
absl::StatusOr<bool> ReplaceBy(const FunctionBody& from, OutputTensor tensor, const FunctionBody& to, Node* placeholder,
                               const FunctionLibraryDefinition& library) {
  HPU_ASSIGN_OR_RETURN(Node * copy, Copier(from, to, library).Copy(tensor.node));
  if (copy == nullptr) return false;
  const NodeMaker maker(to.graph, placeholder->name(), placeholder->requested_device());
  tensorflow::NodeBuilder builder = maker.New("zeros", "ZerosLike");
  HPU_ASSIGN_OR_RETURN(Node * zeros, maker.Add(builder.Input(copy, tensor.index)));
  zeros->AddAttr(kPlaceholderAttr, *placeholder->attrs().Find("shape"));
  MoveConsumers(to.graph, placeholder, zeros);
  to.graph->RemoveNode(placeholder);
  return true;
}

using Functions = std::vector<std::unique_ptr<FunctionBody>>;

absl::StatusOr<bool> ReplaceIn(const Functions& branches, size_t branch, size_t result,
                               const FunctionLibraryDefinition& library) {
  const OutputTensor returned = Returned(*branches[branch], result);
  if (!IsPlaceholderOfUnknownShape(*returned.node)) return false;
  for (size_t i = 0; i < branches.size(); ++i) {
    const OutputTensor tensor = Returned(*branches[i], result);
    if (i == branch || tensor.node->type_string() == "FakeParam") continue;
    return ReplaceBy(*branches[i], tensor, *branches[branch], returned.node, library);
  }
  return false;
}

}  // namespace

absl::StatusOr<bool> GiveShapesToPlaceholders(Graph* graph, FunctionLibraryDefinition* library) {
  bool changed = false;
  for (Node* node : graph->op_nodes()) {
    if (!node->IsIfNode() && !node->IsCaseNode()) continue;
    HPU_ASSIGN_OR_RETURN(const Functions branches, BranchFunctions(*node, *library));
    bool replaced = false;
    for (size_t i = 0; i < branches.size(); ++i) {
      for (size_t result = 0; result < branches[i]->ret_nodes.size(); ++result) {
        HPU_ASSIGN_OR_RETURN(const bool done, ReplaceIn(branches, i, result, *library));
        replaced |= done;
      }
      tensorflow::FixupSourceAndSinkEdges(branches[i]->graph);
    }
    if (replaced) HPU_RETURN_IF_ERROR(SetBranches(node, branches, "_shaped", library));
    changed |= replaced;
  }
  return changed;
}

tensorflow::Status RunPlaceholderPass(const tensorflow::GraphOptimizationPassOptions& options) {
  const Settings settings = Settings::FromEnvironment(options.session_options);
  if (!MayUseHpu(options) || settings.clustering == Clustering::kOff) return tensorflow::OkStatus();
  PassContext context(options.graph, options.flib_def, GraphName(FunctionName(options)), settings);
  FunctionRewriter rewriter(&context, "_shaped", [&](Graph* graph, const auto&, const std::string&) {
    return GiveShapesToPlaceholders(graph, options.flib_def);
  });
  return rewriter.Run([](const Node&) { return true; });
}

}  // namespace hpu::passes
