#include "plugin/passes/precision/bf16_casts.h"

#include <tuple>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "plugin/base/status_macros.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/node_maker.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/lib/core/errors.h"
#include "tsl/platform/errors.h"
#include "tsl/platform/statusor.h"

namespace hpu::passes {
namespace {

using tensorflow::DataType;
using tensorflow::DT_BFLOAT16;
using tensorflow::DT_FLOAT;
using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;

struct Source {
  Node* node;
  int output;
};

// Whether a node is a rounding Cast without control inputs, which the pass can reuse or bypass.
bool IsPlainCast(const Node& node) {
  bool truncates = false;
  if (node.type_string() != "Cast") return false;
  if (tensorflow::TryGetNodeAttr(node.attrs(), "Truncate", &truncates) && truncates) return false;
  return absl::c_none_of(node.in_edges(),
                         [](const Edge* edge) { return edge->IsControlEdge() && !edge->src()->IsSource(); });
}

// Whether float32 represents all values of a type exactly. Such values can be rounded directly to bfloat16, without a
// cast to float32.
bool IsExactInFloat(DataType type) {
  return type == tensorflow::DT_BOOL || type == tensorflow::DT_INT8 || type == tensorflow::DT_UINT8 ||
         type == tensorflow::DT_INT16 || type == tensorflow::DT_UINT16 || type == tensorflow::DT_HALF ||
         type == DT_BFLOAT16;
}

Source CastSource(const Node& node) {
  const Edge* edge = nullptr;
  TF_CHECK_OK(node.input_edge(0, &edge));
  return {edge->src(), edge->src_output()};
}

bool IsUnused(const Node& node) {
  return absl::c_all_of(node.out_edges(), [](const Edge* edge) { return edge->dst()->IsSink(); });
}

const std::string& DeviceOfCast(const Node& node) {
  return node.has_assigned_device_name() ? node.assigned_device_name() : node.requested_device();
}

class CastInserter {
 public:
  explicit CastInserter(Graph* graph) : graph_(graph) {}

  absl::Status Run() {
    std::vector<const Edge*> mismatched;
    for (Node* node : graph_->op_nodes()) {
      if (IsPlainCast(*node)) IndexCast(*node);
      for (const Edge* edge : OutEdges(*node)) {
        if (!edge->IsControlEdge() && TypeOf(*edge) != WantedBy(*edge)) mismatched.push_back(edge);
      }
    }
    for (const Edge* edge : mismatched) HPU_RETURN_IF_ERROR(Join(edge));
    RemoveUnused();
    return absl::OkStatus();
  }

 private:
  using Key = std::tuple<const Node*, int, DataType, std::string>;  // node, output, type, device

  static DataType TypeOf(const Edge& edge) { return tensorflow::BaseType(edge.src()->output_type(edge.src_output())); }
  static DataType WantedBy(const Edge& edge) { return tensorflow::BaseType(edge.dst()->input_type(edge.dst_input())); }

  void IndexCast(Node& cast) {
    const Source source = CastSource(cast);
    if (source.node->output_type(source.output) != cast.input_type(0)) return;
    casts_.emplace(Key(source.node, source.output, cast.output_type(0), DeviceOfCast(cast)), &cast);
  }

  absl::Status Join(const Edge* edge);
  void RetypeCast(const Edge* edge);
  Source LookThrough(Source source);
  absl::StatusOr<Source> As(DataType type, Source source, const std::string& device);
  void RemoveUnused();

  Graph* const graph_;
  absl::flat_hash_map<Key, Node*> casts_;
  absl::flat_hash_set<Node*> bypassed_;  // the program's casts that may have become unused
};

// Changes the operand type of a cast to bfloat16, because the cast follows a converted node. Bypasses the cast if its
// result is bfloat16.
void CastInserter::RetypeCast(const Edge* edge) {
  Node* cast = edge->dst();
  const Source source{edge->src(), edge->src_output()};
  cast->AddAttr("SrcT", DT_BFLOAT16);
  if (cast->output_type(0) != DT_BFLOAT16) return;
  for (const Edge* use : OutEdges(*cast)) {
    if (use->IsControlEdge()) continue;
    Node* user = use->dst();
    const int input = use->dst_input();
    graph_->RemoveEdge(use);
    graph_->AddEdge(source.node, source.output, user, input);
  }
  bypassed_.insert(cast);
}

Source CastInserter::LookThrough(Source source) {
  while (IsPlainCast(*source.node) && source.node->output_type(0) == DT_FLOAT &&
         IsExactInFloat(source.node->input_type(0))) {
    bypassed_.insert(source.node);
    source = CastSource(*source.node);
  }
  return source;
}

absl::StatusOr<Source> CastInserter::As(DataType type, Source source, const std::string& device) {
  if (source.node->output_type(source.output) == type) return source;
  Node*& cast = casts_[Key(source.node, source.output, type, device)];
  if (cast == nullptr) {
    const NodeMaker maker(graph_, source.node->name(), device);
    tensorflow::NodeBuilder builder = maker.New(type == DT_BFLOAT16 ? "to_bf16" : "to_float", "Cast");
    builder.Input(source.node, source.output).Attr("DstT", type).Attr(kBf16CastAttr, true);
    HPU_ASSIGN_OR_RETURN(cast, maker.Add(builder));
  }
  return Source{cast, 0};
}

absl::Status CastInserter::Join(const Edge* edge) {
  const DataType wanted = WantedBy(*edge);
  if (TypeOf(*edge) == DT_BFLOAT16 && IsPlainCast(*edge->dst())) {
    RetypeCast(edge);
    return absl::OkStatus();
  }
  Source source{edge->src(), edge->src_output()};
  // The cast runs on the device of the converted node, an HPU. The other node may be on any device.
  const std::string device = DeviceOfCast(wanted == DT_BFLOAT16 ? *edge->dst() : *edge->src());
  if (wanted == DT_BFLOAT16) source = LookThrough(source);
  HPU_ASSIGN_OR_RETURN(source, As(wanted, source, device));
  Node* user = edge->dst();
  const int input = edge->dst_input();
  graph_->RemoveEdge(edge);
  graph_->AddEdge(source.node, source.output, user, input);
  return absl::OkStatus();
}

void CastInserter::RemoveUnused() {
  while (!bypassed_.empty()) {
    Node* cast = *bypassed_.begin();
    bypassed_.erase(bypassed_.begin());
    if (!IsUnused(*cast)) continue;
    Node* source = CastSource(*cast).node;
    graph_->RemoveNode(cast);
    if (IsPlainCast(*source)) bypassed_.insert(source);
  }
}

}  // namespace

absl::Status InsertBf16Casts(Graph* graph) { return CastInserter(graph).Run(); }

}  // namespace hpu::passes
