#include "plugin/passes/control_flow/unused_results_pass.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/function_bodies.h"
#include "plugin/passes/control_flow/function_values_pass.h"
#include "plugin/passes/functions/function_rewriter.h"
#include "plugin/passes/functions/functional_control_flow.h"
#include "plugin/passes/functions/loop_functions.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/unused_nodes.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/graph/algorithm.h"

namespace hpu::passes {
namespace {

using tensorflow::AttrValue;
using tensorflow::DataTypeVector;
using tensorflow::Edge;
using tensorflow::FunctionBody;
using tensorflow::FunctionDef;
using tensorflow::Graph;
using tensorflow::NameAttrList;
using tensorflow::Node;
using tensorflow::NodeDef;
using tensorflow::Status;

using Bodies = std::vector<std::unique_ptr<FunctionBody>>;
// Whether each argument or result stays, by index.
using Kept = std::vector<bool>;

bool AllKept(const Kept& kept) { return !absl::c_linear_search(kept, false); }

bool HasUser(const Node& node) {
  return absl::c_any_of(node.out_edges(), [](const Edge* edge) { return !edge->dst()->IsSink(); });
}

Kept UsedResults(const Node& node) {
  Kept used(node.num_outputs(), false);
  for (const Edge* edge : node.out_edges()) {
    if (!edge->IsControlEdge()) used[edge->src_output()] = true;
  }
  return used;
}

using NodeSet = absl::flat_hash_set<const Node*>;

// The side effects and kept results, with all their ancestors.
NodeSet NodesOfResults(const FunctionBody& body, const Kept& results) {
  std::vector<const Node*> ends(body.control_ret_nodes.begin(), body.control_ret_nodes.end());
  for (const Node* node : body.graph->op_nodes()) {
    if (node->op_def().is_stateful() && !node->IsArg() && !node->IsRetval()) ends.push_back(node);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i]) ends.push_back(body.ret_nodes[i]);
  }
  NodeSet needed;
  tensorflow::ReverseDFSFrom(*body.graph, ends, [&](const Node* node) { needed.insert(node); }, /*leave=*/nullptr);
  return needed;
}

// Removes results that are not kept, and the nodes that no kept result or side effect needs. Keeps all arguments.
void RemoveResults(const Kept& kept, FunctionBody* body) {
  const NodeSet needed = NodesOfResults(*body, kept);
  std::vector<Node*> unused;
  for (Node* node : body->graph->op_nodes()) {
    if (!node->IsArg() && !needed.contains(node)) unused.push_back(node);
  }
  for (Node* node : unused) body->graph->RemoveNode(node);
  int index = 0;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (!kept[i]) continue;
    body->ret_nodes[i]->ClearAttr("index");
    body->ret_nodes[i]->AddAttr("index", index++);
  }
}

// Removes arguments that are not kept. Removed arguments must have no users.
void RemoveArguments(const Kept& kept, FunctionBody* body) {
  int index = 0;
  for (size_t i = 0; i < kept.size(); ++i) {
    Node* argument = body->arg_nodes[i];
    if (!kept[i]) {
      body->graph->RemoveNode(argument);
      continue;
    }
    argument->ClearAttr("index");
    argument->AddAttr("index", index++);
  }
}

// Copies the attributes of the kept arguments from `original`.
void CopyArgumentNotes(const FunctionDef& original, const Kept& kept, FunctionDef* function) {
  function->clear_arg_attr();
  function->clear_resource_arg_unique_id();
  uint32_t index = 0;
  for (uint32_t i = 0; i < kept.size(); ++i) {
    if (!kept[i]) continue;
    const auto attr = original.arg_attr().find(i);
    if (attr != original.arg_attr().end()) (*function->mutable_arg_attr())[index] = attr->second;
    const auto id = original.resource_arg_unique_id().find(i);
    if (id != original.resource_arg_unique_id().end())
      (*function->mutable_resource_arg_unique_id())[index] = id->second;
    ++index;
  }
}

// Filters a list attribute (types or shapes): keeps the entries whose arguments or results are kept.
void FilterAttr(const char* name, const Kept& kept, NodeDef* definition) {
  const auto found = definition->mutable_attr()->find(name);
  if (found == definition->mutable_attr()->end()) return;
  AttrValue filtered;
  filtered.mutable_list();
  for (int i = 0; i < static_cast<int>(kept.size()); ++i) {
    if (!kept[i]) continue;
    if (i < found->second.list().type_size()) filtered.mutable_list()->add_type(found->second.list().type(i));
    if (i < found->second.list().shape_size()) {
      *filtered.mutable_list()->add_shape() = found->second.list().shape(i);
    }
  }
  found->second = filtered;
}

// Removes unused results in one graph, and in the functions of its loops and branches.
class Remover {
 public:
  using NodeFilter = std::function<bool(const Node&)>;

  explicit Remover(PassContext* context) : context_(context) {}

  // Returns whether the graph changed. Node names in the report begin with `prefix`.
  absl::StatusOr<bool> Run(Graph* graph, const NodeFilter& filter, const std::string& prefix);

 private:
  absl::StatusOr<Bodies> BodiesOf(const std::vector<NameAttrList>& functions);
  absl::StatusOr<bool> RunInside(const std::vector<NameAttrList>& functions, Bodies* bodies);
  absl::StatusOr<bool> Shrink(Graph* graph, Node* node, const std::string& prefix);
  static Kept NeededValues(const FunctionBody& condition, const FunctionBody& body, Kept used);
  absl::StatusOr<std::string> AddFunction(const std::string& name, const FunctionBody& body, const Kept& arguments);
  Status Replace(Graph* graph, Node* node, const NodeDef& definition, const Kept& arguments, const Kept& results,
                 std::vector<int>* sources);

  PassContext* const context_;
  absl::flat_hash_set<std::string> open_;  // functions in progress; recursive functions stay unchanged
};

absl::StatusOr<Bodies> Remover::BodiesOf(const std::vector<NameAttrList>& functions) {
  Bodies bodies;
  for (const NameAttrList& function : functions) {
    HPU_ASSIGN_OR_RETURN(bodies.emplace_back(), MakeFunctionBody(function, *context_->library));
  }
  return bodies;
}

absl::StatusOr<bool> Remover::RunInside(const std::vector<NameAttrList>& functions, Bodies* bodies) {
  const auto filter = [](const Node& node) { return !IsPinnedToOtherDevice(node); };
  bool changed = false;
  for (size_t i = 0; i < bodies->size(); ++i) {
    const std::string& name = functions[i].name();
    open_.insert(name);
    HPU_ASSIGN_OR_RETURN(const bool body_changed, Run((*bodies)[i]->graph, filter, absl::StrCat(name, "/")));
    open_.erase(name);
    changed |= body_changed;
  }
  return changed;
}

// The loop values on which the used values, the condition or side effects depend.
Kept Remover::NeededValues(const FunctionBody& condition, const FunctionBody& body, Kept used) {
  for (size_t i = 0; i < used.size(); ++i) used[i] = used[i] || HasUser(*condition.arg_nodes[i]);
  bool grows = true;
  while (grows) {
    const NodeSet needed = NodesOfResults(body, used);
    grows = false;
    for (size_t i = 0; i < used.size(); ++i) {
      if (used[i] || !needed.contains(body.arg_nodes[i])) continue;
      used[i] = true;
      grows = true;
    }
  }
  return used;
}

absl::StatusOr<std::string> Remover::AddFunction(const std::string& name, const FunctionBody& body,
                                                 const Kept& arguments) {
  const FunctionDef original = *context_->library->Find(name);
  const std::string now = context_->library->UniqueFunctionName(absl::StrCat(name, "_used"));
  HPU_ASSIGN_OR_RETURN(FunctionDef function, FunctionLike(original, *body.graph, now));
  CopyArgumentNotes(original, arguments, &function);
  HPU_RETURN_IF_ERROR(context_->library->AddFunctionDef(function));
  return now;
}

// Replaces a node by a node with only the kept arguments and results. Adds the ids of nodes that lost a user to
// `sources`.
Status Remover::Replace(Graph* graph, Node* node, const NodeDef& definition, const Kept& arguments, const Kept& results,
                        std::vector<int>* sources) {
  const int first = node->IsWhileNode() ? 0 : 1;  // input 0 of an If or Case selects the branch
  Status status;
  Node* now = graph->AddNode(definition, &status);
  HPU_RETURN_IF_ERROR(status);
  now->set_assigned_device_name(node->assigned_device_name());
  int input = 0;
  for (int i = 0; i < node->num_inputs(); ++i) {
    const Edge* edge = nullptr;
    HPU_RETURN_IF_ERROR(node->input_edge(i, &edge));
    if (i < first || arguments[i - first]) {
      graph->AddEdge(edge->src(), edge->src_output(), now, input++);
    } else {
      sources->push_back(edge->src()->id());
    }
  }
  for (const Edge* edge : node->in_edges()) {
    if (edge->IsControlEdge()) graph->AddControlEdge(edge->src(), now, /*allow_duplicates=*/true);
  }
  std::vector<int> places(results.size());
  int place = 0;
  for (size_t i = 0; i < results.size(); ++i) places[i] = results[i] ? place++ : -1;
  for (const Edge* edge : OutEdges(*node)) {
    Node* user = edge->dst();
    const int output = edge->src_output();
    const int user_input = edge->dst_input();
    graph->RemoveEdge(edge);
    if (output == Graph::kControlSlot) {
      graph->AddControlEdge(now, user, /*allow_duplicates=*/true);
    } else {
      graph->AddEdge(now, places[output], user, user_input);
    }
  }
  graph->RemoveNode(node);
  return tensorflow::OkStatus();
}

absl::StatusOr<bool> Remover::Shrink(Graph* graph, Node* node, const std::string& prefix) {
  std::vector<NameAttrList> functions = FunctionsOf(*node);
  const bool calls_itself =
      absl::c_any_of(functions, [&](const NameAttrList& function) { return open_.contains(function.name()); });
  if (calls_itself) return false;
  absl::StatusOr<Bodies> made = BodiesOf(functions);
  if (!made.ok()) return false;  // running the node reports the error
  Bodies& bodies = *made;

  const bool loop = node->IsWhileNode();
  Kept results = UsedResults(*node);
  if (loop) {
    RemoveResults({true}, bodies[0].get());
    results = NeededValues(*bodies[0], *bodies[1], std::move(results));
  }
  for (size_t i = loop ? 1 : 0; i < bodies.size(); ++i) RemoveResults(results, bodies[i].get());
  HPU_ASSIGN_OR_RETURN(const bool inside, RunInside(functions, &bodies));
  Kept arguments = results;
  if (!loop) {
    arguments.assign(bodies[0]->arg_nodes.size(), false);
    for (const auto& body : bodies) {
      for (size_t i = 0; i < arguments.size(); ++i) arguments[i] = arguments[i] || HasUser(*body->arg_nodes[i]);
    }
  }
  if (!inside && AllKept(results) && AllKept(arguments)) return false;

  NodeDef definition = node->def();
  for (size_t i = 0; i < bodies.size(); ++i) {
    RemoveArguments(arguments, bodies[i].get());
    HPU_ASSIGN_OR_RETURN(*functions[i].mutable_name(), AddFunction(functions[i].name(), *bodies[i], arguments));
    functions[i].clear_attr();
  }
  SetFunctions(functions, &definition);
  FilterAttr(loop ? "T" : "Tin", arguments, &definition);
  if (!loop) FilterAttr("Tout", results, &definition);
  FilterAttr("output_shapes", results, &definition);
  KeepInt32OnHost(&definition);
  const int removed = absl::c_count(results, false);
  if (removed > 0) {
    AddRewrite(&context_->report, prefix + node->name(), node->type_string(), "results",
               absl::StrCat("unused results removed: ", removed));
  }
  std::vector<int> sources;
  HPU_RETURN_IF_ERROR(Replace(graph, node, definition, arguments, results, &sources));
  RemoveUnused(graph, std::move(sources));
  return true;
}

absl::StatusOr<bool> Remover::Run(Graph* graph, const NodeFilter& filter, const std::string& prefix) {
  // Visits users first, because removing their arguments makes results of other nodes unused.
  std::vector<Node*> order;
  tensorflow::GetPostOrder(*graph, &order, tensorflow::NodeComparatorName());
  std::vector<int> ids;
  for (const Node* node : order) {
    if (IsFunctionalControlFlow(*node) && filter(*node)) ids.push_back(node->id());
  }
  bool changed = false;
  for (const int id : ids) {
    Node* node = graph->FindNodeId(id);
    if (node == nullptr) continue;
    HPU_ASSIGN_OR_RETURN(const bool shrunk, Shrink(graph, node, prefix));
    changed |= shrunk;
  }
  return changed;
}

}  // namespace

absl::Status RemoveUnusedResults(PassContext* context) {
  return Remover(context).Run(context->graph->get(), IsOnHpu, "").status();
}

}  // namespace hpu::passes
