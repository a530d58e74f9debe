#include "plugin/passes/control_flow/switch_side_pass.h"

#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/passes/graph/graph_util.h"
#include "tensorflow/core/framework/function.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::FunctionDef;
using tensorflow::FunctionLibraryDefinition;
using tensorflow::Graph;
using tensorflow::Node;

// The used output of each Switch, by the Switch's predicate.
using Sides = absl::flat_hash_map<const Node*, int>;

// Whether a function uses an argument's value, not only a control edge from it.
bool UsesValue(const FunctionDef& function, int argument) {
  if (argument >= function.signature().input_arg_size()) return true;
  const std::string& name = function.signature().input_arg(argument).name();
  const auto is_value = [&](const std::string& input) {
    return input == name || absl::StartsWith(input, absl::StrCat(name, ":"));
  };
  return absl::c_any_of(function.ret(), [&](const auto& result) { return is_value(result.second); }) ||
         absl::c_any_of(function.node_def(), [&](const auto& node) { return absl::c_any_of(node.input(), is_value); });
}

// Whether any function of an If or Case uses the input's value. Input 0 selects the function.
bool UsesValue(const Node& node, int input, const FunctionLibraryDefinition& library) {
  if (input == 0) return true;
  const auto uses = [&](const tensorflow::NameAttrList& branch) {
    const FunctionDef* function = library.Find(branch.name());
    return function == nullptr || UsesValue(*function, input - 1);
  };
  return absl::c_any_of(node.attrs(), [&](const auto& attribute) {
    const tensorflow::AttrValue& value = attribute.second;
    return (value.has_func() && uses(value.func())) || absl::c_any_of(value.list().func(), uses);
  });
}

const Node* DeciderOf(const Node& a_switch) { return InputOf(a_switch, 1).node; }

// The sides of all Switches upstream of `edges`. The search continues past Switches and stops at Merges.
Sides SidesOf(std::vector<const Edge*> edges) {
  Sides sides;
  absl::flat_hash_set<const Node*> seen;
  while (!edges.empty()) {
    const Edge* edge = edges.back();
    edges.pop_back();
    const Node* source = edge->src();
    if (source->IsSwitch() && !edge->IsControlEdge()) sides.emplace(DeciderOf(*source), edge->src_output());
    if (source->IsMerge() || !seen.insert(source).second) continue;
    edges.insert(edges.end(), source->in_edges().begin(), source->in_edges().end());
  }
  return sides;
}

absl::Status ChooseSides(Graph* graph, Node* node, const FunctionLibraryDefinition& library) {
  std::vector<const Edge*> used, waited;
  for (const Edge* edge : node->in_edges()) {
    const bool waits = !edge->IsControlEdge() && edge->src()->IsSwitch() && edge->src_output() == 0 &&
                       !UsesValue(*node, edge->dst_input(), library);
    (waits ? waited : used).push_back(edge);
  }
  if (waited.empty()) return absl::OkStatus();
  const Sides sides = SidesOf(std::move(used));
  for (const Edge* edge : waited) {
    Node* const source = edge->src();
    const auto side = sides.find(DeciderOf(*source));
    if (side == sides.end() || side->second == edge->src_output()) continue;
    HPU_RETURN_IF_ERROR(graph->UpdateEdge(source, side->second, node, edge->dst_input()));
  }
  return absl::OkStatus();
}

}  // namespace
tensorflow::Status RunSwitchSidePass(const tensorflow::GraphOptimizationPassOptions& options) {
  if (options.graph == nullptr || options.flib_def == nullptr || !AnyOnHpu(**options.graph) ||
      !HasLoweredControlFlow(**options.graph)) {
    return tensorflow::OkStatus();
  }
  for (Node* node : (*options.graph)->op_nodes()) {
    if (!node->IsIfNode() && !node->IsCaseNode()) continue;
    HPU_RETURN_IF_ERROR(ChooseSides(options.graph->get(), node, *options.flib_def));
  }
  return tensorflow::OkStatus();
}

}  // namespace hpu::passes
