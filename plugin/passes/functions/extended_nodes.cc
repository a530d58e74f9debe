#include "plugin/passes/functions/extended_nodes.h"

#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/passes/functions/loop_functions.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/node_maker.h"
#include "plugin/passes/graph/unused_nodes.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;
using tensorflow::NodeBuilder;
using tensorflow::NodeDef;

// Attributes of KeepOriginal: the names of the functions, and the numbers of inputs and outputs. Names, because an
// attribute with functions would be a call.
constexpr char kFunctionsAttr[] = "_habana_original_functions";
constexpr char kSizesAttr[] = "_habana_original_sizes";
constexpr char kNameAttr[] = "_habana_original_name";  // of a node that MoveName renamed

constexpr const char* kRecords[] = {kFunctionsAttr, kSizesAttr, kNameAttr};

tensorflow::AttrValue::ListValue* AttrList(const char* attr, NodeDef* definition) {
  return (*definition->mutable_attr())[attr].mutable_list();
}

// Keeps the first `size` entries of a list of types or shapes.
void TruncateAttr(const char* attr, int size, NodeDef* definition) {
  if (definition->attr().find(attr) == definition->attr().end()) return;
  auto* list = AttrList(attr, definition);
  if (list->type_size() > size) list->mutable_type()->Truncate(size);
  if (list->shape_size() > size) list->mutable_shape()->DeleteSubrange(size, list->shape_size() - size);
}

// Adds a copy of `old` with another definition, and moves the inputs before `inputs` and all consumers to it. Returns
// the sources of the other inputs in `unused`.
absl::StatusOr<Node*> ReplaceNode(Graph* graph, Node* old, NodeDef definition, int inputs, std::vector<int>* unused) {
  HPU_ASSIGN_OR_RETURN(Node * node, graph->AddNode(std::move(definition)));
  node->set_assigned_device_name(old->assigned_device_name());
  for (const Edge* edge : old->in_edges()) {
    if (edge->IsControlEdge()) {
      graph->AddControlEdge(edge->src(), node);
    } else if (edge->dst_input() < inputs) {
      graph->AddEdge(edge->src(), edge->src_output(), node, edge->dst_input());
    } else {
      unused->push_back(edge->src()->id());
    }
  }
  MoveConsumers(graph, old, node);
  graph->RemoveNode(old);
  return node;
}

}  // namespace

absl::StatusOr<Node*> AddArgument(Graph* function, int index, tensorflow::DataType type) {
  NodeBuilder builder(function->NewName("habana_argument"), "_Arg");
  Node* argument = nullptr;
  HPU_RETURN_IF_ERROR(builder.Attr("T", type).Attr("index", index).Finalize(function, &argument));
  return argument;
}

absl::Status AddResult(Graph* function, int index, NodeBuilder::NodeOut value) {
  NodeBuilder builder(function->NewName("habana_result"), "_Retval");
  Node* result = nullptr;
  return builder.Input(value).Attr("index", index).Finalize(function, &result);
}

absl::StatusOr<Node*> Extend(Graph* graph, Node* old, const std::vector<Node*>& inputs,
                             const std::vector<NewOutput>& outputs) {
  NodeDef definition = old->def();
  const bool loop = old->IsWhileNode();
  const int first = old->num_inputs();
  if (!loop) {
    for (const Node* input : inputs) AttrList("Tin", &definition)->add_type(input->output_type(0));
  }
  auto* shapes = AttrList("output_shapes", &definition);
  const bool has_shapes = shapes->shape_size() == old->num_outputs();
  for (const NewOutput& output : outputs) {
    AttrList(loop ? "T" : "Tout", &definition)->add_type(output.type);
    if (has_shapes) output.shape.AsProto(shapes->add_shape());
  }
  std::vector<int> unused;
  HPU_ASSIGN_OR_RETURN(Node * node, ReplaceNode(graph, old, std::move(definition), first, &unused));
  for (size_t i = 0; i < inputs.size(); ++i) graph->AddEdge(inputs[i], 0, node, first + static_cast<int>(i));
  return node;
}

void KeepOriginal(Node* node) {
  if (HasOriginal(*node)) return;
  std::vector<std::string> names;
  for (const tensorflow::NameAttrList& function : FunctionsOf(*node)) names.push_back(function.name());
  node->AddAttr(kFunctionsAttr, names);
  node->AddAttr(kSizesAttr, std::vector<int>{node->num_inputs(), node->num_outputs()});
}

absl::Status MoveName(Graph* graph, Node* node, const std::vector<Node*>& later) {
  const std::string name = node->name();
  node->set_name(graph->NewName(absl::StrCat(name, "/checked")));
  node->AddAttr(kNameAttr, name);
  NodeBuilder builder(name, "NoOp");
  Node* last = nullptr;
  return builder.Device(node->requested_device()).ControlInput(node).ControlInputs(later).Finalize(graph, &last);
}

bool HasOriginal(const Node& node) { return node.attrs().Find(kSizesAttr) != nullptr; }

absl::StatusOr<Node*> RestoreOriginal(Graph* graph, Node* node) {
  std::vector<std::string> names;
  std::vector<int> sizes;
  if (!tensorflow::TryGetNodeAttr(node->attrs(), kFunctionsAttr, &names) ||
      !tensorflow::TryGetNodeAttr(node->attrs(), kSizesAttr, &sizes)) {
    return node;
  }
  const int inputs = sizes[0], outputs = sizes[1];
  std::vector<tensorflow::NameAttrList> functions = FunctionsOf(*node);
  for (size_t i = 0; i < functions.size(); ++i) functions[i].set_name(names[i]);
  NodeDef definition = node->def();
  SetFunctions(functions, &definition);
  for (const char* attr : kRecords) definition.mutable_attr()->erase(attr);
  if (node->IsWhileNode()) {
    TruncateAttr("T", inputs, &definition);
  } else {
    TruncateAttr("Tin", inputs - 1, &definition);  // input 0 selects the branch
    TruncateAttr("Tout", outputs, &definition);
  }
  TruncateAttr("output_shapes", outputs, &definition);
  std::string name;
  if (tensorflow::TryGetNodeAttr(node->attrs(), kNameAttr, &name)) definition.set_name(name);
  absl::flat_hash_set<Node*> users;
  for (const Edge* edge : node->out_edges()) {
    const bool additional = edge->IsControlEdge() ? edge->dst()->name() == name : edge->src_output() >= outputs;
    if (additional) users.insert(edge->dst());
  }
  std::vector<int> unused;
  for (Node* user : users) {
    for (const Edge* edge : user->in_edges()) {
      if (!edge->IsControlEdge() && edge->src() != node) unused.push_back(edge->src()->id());
    }
    graph->RemoveNode(user);
  }
  HPU_ASSIGN_OR_RETURN(Node * original, ReplaceNode(graph, node, std::move(definition), inputs, &unused));
  RemoveUnused(graph, std::move(unused));
  return original;
}

void ForgetOriginals(Graph* graph) {
  for (Node* node : graph->op_nodes()) {
    for (const char* attr : kRecords) node->ClearAttr(attr);
  }
}

}  // namespace hpu::passes
