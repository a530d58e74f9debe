#include "plugin/passes/clustering/encapsulation_pass.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/version/contact.h"
#include "plugin/compat/cluster_analysis.h"
#include "plugin/compat/graph_rewrites.h"
#include "plugin/passes/clustering/constant_branch_pass.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/node_maker.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/node_def_builder.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::DataType;
using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;
using tensorflow::NodeDef;
using tensorflow::OutputTensor;
using tensorflow::Status;

constexpr char kConstantsAttr[] = "_habana_constants";  // call attributes from FinishCluster to BuildLaunch
constexpr char kResourcesAttr[] = "_habana_resources";
constexpr char kCallMustCompileAttr[] = "_habana_call_must_compile";
constexpr char kHostArgumentsAttr[] = "_habana_host_arguments";

bool IsResource(const OutputTensor& tensor) {
  return tensor.node->output_type(tensor.index) == tensorflow::DT_RESOURCE;
}

// The new position of each argument: constants first, resources last, stable within each group.
std::vector<int> ArgumentOrder(const std::vector<OutputTensor>& sources, const std::vector<bool>& constants) {
  std::vector<int> sequence(sources.size());
  std::iota(sequence.begin(), sequence.end(), 0);
  const auto group = [&](int i) { return constants[i] ? 0 : IsResource(sources[i]) ? 2 : 1; };
  std::stable_sort(sequence.begin(), sequence.end(), [&](int a, int b) { return group(a) < group(b); });
  std::vector<int> permutation(sources.size());
  for (size_t position = 0; position < sequence.size(); ++position) {
    permutation[sequence[position]] = static_cast<int>(position);
  }
  return permutation;
}

// Marks the arguments that determine the index of a Case with kKnownIndexAttr as constants, so that tf2xla knows the
// index.
void AddConstantsOfBranches(const Graph& body, std::vector<bool>* constants) {
  std::vector<const Node*> work;
  std::vector<bool> seen(body.num_node_ids());
  for (const Node* node : body.op_nodes()) {
    if (node->attrs().Find(kKnownIndexAttr) != nullptr) work.push_back(InputOf(*node, 0).node);
  }
  while (!work.empty()) {
    const Node* const node = work.back();
    work.pop_back();
    if (seen[node->id()]) continue;
    seen[node->id()] = true;
    int index = 0;
    if (node->IsArg() && tensorflow::TryGetNodeAttr(node->attrs(), "index", &index)) (*constants)[index] = true;
    if (tensorflow::XlaOpRegistry::IsMetadataOp(node->type_string())) continue;
    for (const Edge* edge : node->in_edges()) {
      if (!edge->IsControlEdge()) work.push_back(edge->src());
    }
  }
}

// Orders the arguments of a cluster's function. Records in attributes of the call how many arguments are constants or
// resources, and which are in host memory.
Status FinishCluster(PassContext* context, const std::vector<OutputTensor>& sources, Graph* body,
                     std::vector<int>* permutation, NodeDef* call) {
  HPU_ASSIGN_OR_RETURN(std::vector<bool> constants, FindConstantArguments(*body, sources.size(), context->Runtime()));
  AddConstantsOfBranches(*body, &constants);
  // Handles are never constants.
  for (size_t i = 0; i < sources.size(); ++i) constants[i] = constants[i] && !IsResource(sources[i]);
  *permutation = ArgumentOrder(sources, constants);
  std::vector<int> host;
  for (size_t i = 0; i < sources.size(); ++i) {
    const DataType type = sources[i].node->output_type(sources[i].index);
    const bool random_state = sources[i].node->type_string() == kPhiloxStateOp;
    if (constants[i] || type == tensorflow::DT_INT32 || random_state) host.push_back((*permutation)[i]);
  }
  std::sort(host.begin(), host.end());
  bool must_compile = false;
  for (Node* node : body->op_nodes()) {
    if (node->IsArg()) {
      int index = 0;
      HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(node->attrs(), "index", &index));
      node->AddAttr("index", (*permutation)[index]);
    }
    if (node->attrs().Find(kMustCompileAttr) != nullptr) {
      must_compile = true;
      node->ClearAttr(kMustCompileAttr);
    }
    // Ops inside a cluster run on the cluster's device; the launch inherits their colocation groups.
    node->ClearAttr(tensorflow::kColocationAttrName);
    node->set_requested_device("");
    node->set_assigned_device_name("");
  }
  const int64_t resources = std::count_if(sources.begin(), sources.end(), IsResource);
  const int64_t constant_count = std::count(constants.begin(), constants.end(), true);
  tensorflow::AddNodeAttr(kConstantsAttr, constant_count, call);
  tensorflow::AddNodeAttr(kResourcesAttr, resources, call);
  tensorflow::AddNodeAttr(kCallMustCompileAttr, must_compile, call);
  tensorflow::AddNodeAttr(kHostArgumentsAttr, host, call);
  return tensorflow::OkStatus();
}

std::vector<int> HostResults(const Node& call) {
  std::vector<int> host;
  for (int i = 0; i < call.num_outputs(); ++i) {
    if (call.output_type(i) == tensorflow::DT_INT32) host.push_back(i);
  }
  return host;
}

// The colocation groups ("loc:@v") of each cluster's nodes, for the cluster's launch.
using Colocation = std::map<std::string, std::set<std::string>>;

Colocation CollectColocation(const Graph& graph) {
  Colocation colocation;
  for (const Node* node : graph.op_nodes()) {
    std::string cluster;
    std::vector<std::string> groups;
    if (!tensorflow::TryGetNodeAttr(node->attrs(), kClusterAttr, &cluster)) continue;
    if (!tensorflow::TryGetNodeAttr(node->attrs(), tensorflow::kColocationAttrName, &groups)) continue;
    colocation[cluster].insert(groups.begin(), groups.end());
  }
  return colocation;
}

Status BuildLaunch(const Node& call, const std::set<std::string>& groups, NodeDef* launch) {
  int64_t constants = 0;
  int64_t resources = 0;
  bool must_compile = false;
  std::vector<int> host;
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(call.attrs(), kConstantsAttr, &constants));
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(call.attrs(), kResourcesAttr, &resources));
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(call.attrs(), kCallMustCompileAttr, &must_compile));
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(call.attrs(), kHostArgumentsAttr, &host));
  tensorflow::NameAttrList function;
  function.set_name(call.type_string());
  launch->set_name(call.name());
  launch->set_op(kLaunchOp);
  launch->set_device(call.requested_device());
  tensorflow::AddNodeAttr("Targs", call.input_types(), launch);
  tensorflow::AddNodeAttr("Tresults", call.output_types(), launch);
  tensorflow::AddNodeAttr("function", function, launch);
  tensorflow::AddNodeAttr("num_constant_args", constants, launch);
  tensorflow::AddNodeAttr("num_resource_args", resources, launch);
  tensorflow::AddNodeAttr("must_compile", must_compile, launch);
  tensorflow::AddNodeAttr("_input_hostmem", host, launch);
  tensorflow::AddNodeAttr("_output_hostmem", HostResults(call), launch);
  if (!groups.empty()) {
    const std::vector<std::string> list(groups.begin(), groups.end());
    tensorflow::AddNodeAttr(tensorflow::kColocationAttrName, list, launch);
  }
  return tensorflow::OkStatus();
}

// Replaces a call by a HabanaLaunch, and adds the cluster to the report.
Status ReplaceCall(Graph* graph, Node* call, const std::set<std::string>& groups, Report* report,
                   const tensorflow::FunctionLibraryDefinition& library) {
  NodeDef definition;
  HPU_RETURN_IF_ERROR(BuildLaunch(*call, groups, &definition));
  Status status;
  Node* launch = graph->AddNode(definition, &status);
  HPU_RETURN_IF_ERROR(status);
  launch->set_assigned_device_name(call->requested_device());
  for (const Edge* edge : call->in_edges()) {
    if (edge->IsControlEdge()) {
      graph->AddControlEdge(edge->src(), launch, /*allow_duplicates=*/true);
    } else {
      graph->AddEdge(edge->src(), edge->src_output(), launch, edge->dst_input());
    }
  }
  MoveConsumers(graph, call, launch);
  const tensorflow::FunctionDef* function = library.Find(call->type_string());
  if (function == nullptr)
    return absl::InternalError(absl::StrCat("cluster ", call->name(), ": function ", call->type_string(),
                                            " is not in the function library; " HPU_REPORT_BUG));
  report::v1::Cluster& cluster = *report->add_clusters();
  cluster.set_name(call->name());
  cluster.set_device(launch->assigned_device_name());
  cluster.set_must_compile(definition.attr().at("must_compile").b());
  cluster.set_ops(function->node_def_size());
  cluster.set_arguments(call->num_inputs());
  cluster.set_constants(definition.attr().at("num_constant_args").i());
  cluster.set_resources(definition.attr().at("num_resource_args").i());
  cluster.set_results(call->num_outputs());
  graph->RemoveNode(call);
  return tensorflow::OkStatus();
}

}  // namespace

absl::Status EncapsulateClusters(PassContext* context) {
  const Graph& graph = **context->graph;
  const Colocation colocation = CollectColocation(graph);
  bool any = false;
  for (const Node* node : graph.op_nodes()) any |= node->attrs().Find(kClusterAttr) != nullptr;
  if (!any) return absl::OkStatus();

  const auto finish = [context](const std::vector<OutputTensor>& sources, std::unique_ptr<Graph>* body,
                                std::vector<int>* inputs, std::vector<int>* outputs, NodeDef* call) -> Status {
    return FinishCluster(context, sources, body->get(), inputs, call);
  };
  std::unique_ptr<Graph> result;
  HPU_RETURN_IF_ERROR(tensorflow::EncapsulateSubgraphsInFunctions(kClusterAttr, graph, finish,
                                                                  /*reuse_existing_functions=*/false, &result,
                                                                  context->library));
  std::vector<Node*> calls;
  for (Node* node : result->op_nodes()) {
    if (node->attrs().Find(kHostArgumentsAttr) != nullptr) calls.push_back(node);
  }
  std::sort(calls.begin(), calls.end(), [](const Node* a, const Node* b) { return a->name() < b->name(); });
  static const std::set<std::string> none;
  for (Node* call : calls) {
    const auto groups = colocation.find(call->name());
    HPU_RETURN_IF_ERROR(ReplaceCall(result.get(), call, groups == colocation.end() ? none : groups->second,
                                    &context->report, *context->library));
  }
  *context->graph = std::move(result);
  return absl::OkStatus();
}

}  // namespace hpu::passes
