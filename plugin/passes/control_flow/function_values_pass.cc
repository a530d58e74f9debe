#include "plugin/passes/control_flow/function_values_pass.h"

#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "plugin/base/status_macros.h"
#include "plugin/passes/analysis/kernel_search.h"
#include "plugin/passes/functions/functional_control_flow.h"
#include "plugin/passes/graph/graph_util.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::AttrSlice;
using tensorflow::DataTypeVector;
using tensorflow::FunctionDef;
using tensorflow::FunctionLibraryDefinition;
using tensorflow::Node;
using tensorflow::NodeDef;

// Names of the attributes with the types of the arguments and results of an op's functions.
struct ValueLists {
  const char* arguments;  // attribute with the argument types
  const char* results;
  int first;  // input index of the first argument
};

const ValueLists* ListsOf(const std::string& op) {
  static const auto* lists = new absl::flat_hash_map<std::string, ValueLists>({{"Case", {"Tin", "Tout", 1}},
                                                                               {"For", {"T", "T", 3}},
                                                                               {"If", {"Tin", "Tout", 1}},
                                                                               {"RemoteCall", {"Tin", "Tout", 1}},
                                                                               {"StatelessCase", {"Tin", "Tout", 1}},
                                                                               {"StatelessIf", {"Tin", "Tout", 1}}});
  const auto found = lists->find(op);
  return found == lists->end() ? nullptr : &found->second;
}

std::vector<int> Int32Indices(AttrSlice attrs, const char* attr, int first) {
  DataTypeVector types;
  std::vector<int> indices;
  if (!tensorflow::GetNodeAttr(attrs, attr, &types).ok()) return {};  // the types depend on the caller of the function
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i] == tensorflow::DT_INT32) indices.push_back(static_cast<int>(i) + first);
  }
  return indices;
}

// Calls set(attribute, indices) for the attributes that list the op's inputs and outputs in host memory.
template <typename Set>
void SetHostMemory(const std::string& op, AttrSlice attrs, Set set) {
  const ValueLists* const lists = ListsOf(op);
  if (lists == nullptr || attrs.Find("_input_hostmem") != nullptr) return;
  const std::vector<int> arguments = Int32Indices(attrs, lists->arguments, lists->first);
  const std::vector<int> results = Int32Indices(attrs, lists->results, 0);
  if (arguments.empty() && results.empty()) return;
  set("_input_hostmem", arguments);
  set("_output_hostmem", results);
}

absl::Status KeepInt32OnHostIn(const std::string& name, FunctionLibraryDefinition* library) {
  const FunctionDef* const found = library->Find(name);
  if (!absl::c_any_of(found->node_def(), [](const NodeDef& node) { return ListsOf(node.op()) != nullptr; })) {
    return absl::OkStatus();
  }
  FunctionDef function = *found;
  bool changed = false;
  for (NodeDef& node : *function.mutable_node_def()) {
    const NodeDef before = node;
    SetHostMemory(before.op(), AttrSlice(before), [&](const char* attribute, const std::vector<int>& indices) {
      tensorflow::AddNodeAttr(attribute, indices, &node);
      changed = true;
    });
  }
  return changed ? library->ReplaceFunction(name, function) : absl::OkStatus();
}

// Whether a loop's condition returns int64 or a string, which the loop's kernel wrongly reads from host memory.
bool HasMisreadCondition(const Node& node, const FunctionLibraryDefinition& library) {
  const tensorflow::AttrValue* const condition = node.IsWhileNode() ? node.attrs().Find("cond") : nullptr;
  const FunctionDef* const function = condition == nullptr ? nullptr : library.Find(condition->func().name());
  if (function == nullptr || function->signature().output_arg_size() != 1) return false;
  const tensorflow::DataType type = function->signature().output_arg(0).type();
  return type == tensorflow::DT_INT64 || type == tensorflow::DT_STRING;
}

}  // namespace

absl::Status KeepInt32OnHost(tensorflow::Graph* graph, FunctionLibraryDefinition* library) {
  for (Node* node : graph->op_nodes()) {
    SetHostMemory(node->type_string(), node->attrs(),
                  [&](const char* attribute, const std::vector<int>& indices) { node->AddAttr(attribute, indices); });
  }
  for (const std::string& name : library->ListFunctionNames()) {
    HPU_RETURN_IF_ERROR(KeepInt32OnHostIn(name, library));
  }
  return absl::OkStatus();
}

void KeepInt32OnHost(NodeDef* node) {
  node->mutable_attr()->erase("_input_hostmem");
  node->mutable_attr()->erase("_output_hostmem");
  const NodeDef changed = *node;
  SetHostMemory(changed.op(), AttrSlice(changed), [&](const char* attribute, const std::vector<int>& indices) {
    tensorflow::AddNodeAttr(attribute, indices, node);
  });
}

void PlaceFunctionalNodes(tensorflow::Graph* graph, const FunctionLibraryDefinition& library) {
  for (Node* node : graph->op_nodes()) {
    if (!IsFunctionalControlFlow(*node) || IsPinnedToOtherDevice(*node)) continue;
    if (!HasMisreadCondition(*node, library) && KernelSearch(library, /*or_lowering=*/true).FindsCallees(node->attrs()))
      continue;
    const std::string& device = node->requested_device();
    node->set_requested_device(device.empty() ? "/device:CPU:0" : HostOf(device));
  }
}

tensorflow::Status RunFunctionValuesPass(const tensorflow::GraphOptimizationPassOptions& options) {
  if (options.graph == nullptr || options.flib_def == nullptr) return tensorflow::OkStatus();
  PlaceFunctionalNodes(options.graph->get(), *options.flib_def);
  return KeepInt32OnHost(options.graph->get(), options.flib_def);
}

}  // namespace hpu::passes
