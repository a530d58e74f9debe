#include "plugin/passes/analysis/effect_rules.h"

#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "plugin/compat/function_bodies.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/functions/functional_control_flow.h"
#include "plugin/passes/functions/loop_functions.h"
#include "tensorflow/core/graph/algorithm.h"

namespace hpu::passes {
namespace {

using tensorflow::FunctionBody;
using tensorflow::FunctionLibraryRuntime;
using tensorflow::NameAttrList;
using tensorflow::Node;

using NodeSet = absl::flat_hash_set<const Node*>;

std::vector<const Node*> EffectsOf(const FunctionBody& body) {
  std::vector<const Node*> effects;
  for (const Node* node : body.graph->op_nodes()) {
    if (!node->op_def().is_stateful() || node->IsArg() || node->IsRetval()) continue;
    if (!FactsOf(node->type_string()).only_reads) effects.push_back(node);
  }
  return effects;
}

// Adds the ancestors of the nodes to `needed`, including the nodes themselves.
void AddAncestors(const FunctionBody& body, const std::vector<const Node*>& nodes, NodeSet* needed) {
  tensorflow::ReverseDFSFrom(*body.graph, nodes, [&](const Node* node) { needed->insert(node); }, /*leave=*/nullptr);
}

const Node* FirstMissing(const std::vector<const Node*>& effects, const NodeSet& needed) {
  const auto found = absl::c_find_if(effects, [&](const Node* effect) { return !needed.contains(effect); });
  return found == effects.end() ? nullptr : *found;
}

// A side effect that neither a result nor a control result needs, or null.
const Node* DeadEffect(const FunctionBody& body, const std::vector<const Node*>& effects) {
  NodeSet needed;
  AddAncestors(body, {body.ret_nodes.begin(), body.ret_nodes.end()}, &needed);
  AddAncestors(body, {body.control_ret_nodes.begin(), body.control_ret_nodes.end()}, &needed);
  return FirstMissing(effects, needed);
}

// A side effect that at least one result does not need, or null.
const Node* UnusedEffect(const FunctionBody& body, const std::vector<const Node*>& effects) {
  for (const Node* result : body.ret_nodes) {
    NodeSet needed;
    AddAncestors(body, {result}, &needed);
    if (const Node* effect = FirstMissing(effects, needed)) return effect;
  }
  return nullptr;
}

// A side effect of a loop's body that at least one loop value does not need, or null. Each loop value needs its own
// inputs and the inputs of the condition. Ignores loop values that never change.
const Node* UnusedEffectOfLoop(const FunctionBody& condition, const FunctionBody& body,
                               const std::vector<const Node*>& effects) {
  NodeSet condition_needs;
  AddAncestors(condition, {condition.ret_nodes.begin(), condition.ret_nodes.end()}, &condition_needs);
  for (size_t value = 0; value < body.ret_nodes.size(); ++value) {
    if (IsInvariant(body, static_cast<int>(value))) continue;
    NodeSet needed;
    std::vector<bool> seen(body.ret_nodes.size(), false);
    seen[value] = true;
    for (size_t i = 0; i < seen.size(); ++i) {
      seen[i] = seen[i] || condition_needs.contains(condition.arg_nodes[i]);
    }
    size_t before = 0;
    do {
      before = needed.size();
      for (size_t i = 0; i < seen.size(); ++i) {
        seen[i] = seen[i] || needed.contains(body.arg_nodes[i]);
        if (seen[i]) AddAncestors(body, {body.ret_nodes[i]}, &needed);
      }
    } while (needed.size() > before);
    if (const Node* effect = FirstMissing(effects, needed)) return effect;
  }
  return nullptr;
}

// Recursive search for unused side effects in the functions of a node.
class Search {
 public:
  explicit Search(FunctionLibraryRuntime* runtime) : runtime_(runtime) {}

  std::optional<OpRefusal> Refuse(const Node& node, bool all_run, int depth = 0) const {
    constexpr int kMaxDepth = 32;  // limit for recursive functions
    if (depth > kMaxDepth || !node.op_def().is_stateful()) return std::nullopt;
    if (!IsFunctionalControlFlow(node) && !node.IsPartitionedCall()) return std::nullopt;
    for (const FunctionBody* body : BodiesOf(node)) {
      const Node* const effect = IsFunctionalControlFlow(node) ? FindEffect(node, *body, all_run) : nullptr;
      if (effect != nullptr) {
        return OpRefusal{Rule::kSideEffect, absl::StrCat("has a side effect (", effect->name(),
                                                         ") on which some of its results do not depend")};
      }
      for (const Node* inner : body->graph->op_nodes()) {
        const bool runs = HasControlUsers(*inner) || absl::c_linear_search(body->control_ret_nodes, inner);
        if (auto refusal = Refuse(*inner, runs, depth + 1)) return refusal;
      }
    }
    return std::nullopt;
  }

 private:
  std::vector<const FunctionBody*> BodiesOf(const Node& node) const {
    std::vector<const FunctionBody*> bodies;
    const auto add = [&](const NameAttrList& function) {
      if (const FunctionBody* body = BodyOf(function)) bodies.push_back(body);
    };
    for (const auto& [name, value] : node.attrs()) {
      if (value.has_func()) add(value.func());
      for (const NameAttrList& function : value.list().func()) add(function);
    }
    return bodies;
  }

  // Null if the function cannot be instantiated; compiling the node reports the error.
  const FunctionBody* BodyOf(const NameAttrList& function) const {
    return InstantiateBody(function.name(), tensorflow::AttrSlice(&function.attr()), runtime_).value_or(nullptr);
  }

  const Node* FindEffect(const Node& node, const FunctionBody& body, bool all_run) const {
    const std::vector<const Node*> effects = EffectsOf(body);
    if (effects.empty()) return nullptr;
    if (all_run || node.num_outputs() == 0) return DeadEffect(body, effects);
    if (!node.IsWhileNode() || body.ret_nodes.size() != body.arg_nodes.size()) return UnusedEffect(body, effects);
    const FunctionBody* condition = BodyOf(node.attrs().Find("cond")->func());
    return condition == nullptr ? nullptr : UnusedEffectOfLoop(*condition, body, effects);
  }

  FunctionLibraryRuntime* const runtime_;
};

}  // namespace

bool HasControlUsers(const Node& node) {
  return absl::c_any_of(node.out_edges(),
                        [](const auto* edge) { return edge->IsControlEdge() && !edge->dst()->IsSink(); });
}

std::optional<OpRefusal> RefuseUnusedEffects(const Node& node, bool all_run, FunctionLibraryRuntime* runtime) {
  return Search(runtime).Refuse(node, all_run);
}

}  // namespace hpu::passes
