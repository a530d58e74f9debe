#include "plugin/passes/graph/node_maker.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/passes/graph/graph_util.h"
#include "tensorflow/core/util/device_name_utils.h"

namespace hpu::passes {

using tensorflow::Node;
using tensorflow::NodeBuilder;

namespace {

bool IsComplete(const std::string& device) {
  tensorflow::DeviceNameUtils::ParsedName name;
  return tensorflow::DeviceNameUtils::ParseFullName(device, &name) && name.has_job && name.has_replica &&
         name.has_task && name.has_type && name.has_id;
}

}  // namespace

NodeMaker::NodeMaker(tensorflow::Graph* graph, std::string prefix, std::string device, Node* anchor)
    : graph_(graph),
      prefix_(std::move(prefix)),
      device_(std::move(device)),
      assigns_(IsComplete(device_)),
      anchor_(anchor) {}

NodeBuilder NodeMaker::New(const std::string& suffix, const std::string& op) const {
  NodeBuilder builder(graph_->NewName(absl::StrCat(prefix_, "/", suffix)), op, graph_->op_registry());
  builder.Device(device_);
  return builder;
}

NodeBuilder NodeMaker::NewState(const std::string& suffix, const std::string& op) const {
  NodeBuilder builder(absl::StrCat(prefix_, "/habana_", suffix), op, graph_->op_registry());
  builder.Device(device_);
  return builder;
}

absl::StatusOr<Node*> NodeMaker::Add(NodeBuilder& builder) const {
  Node* node = nullptr;
  HPU_RETURN_IF_ERROR(builder.Finalize(graph_, &node));
  if (assigns_) node->set_assigned_device_name(device_);
  return node;
}

absl::StatusOr<Node*> NodeMaker::Constant(const std::string& suffix, const tensorflow::Tensor& value) const {
  NodeBuilder builder = New(suffix, "Const");
  builder.Attr("dtype", value.dtype()).Attr("value", value);
  if (anchor_ != nullptr) builder.ControlInput(anchor_);
  return Add(builder);
}

absl::StatusOr<Node*> NodeMaker::Binary(const std::string& suffix, const std::string& op, Node* x, Node* y) const {
  NodeBuilder builder = New(suffix, op);
  return Add(builder.Input(x).Input(y));
}

absl::StatusOr<Node*> NodeMaker::Bitcast(const std::string& suffix, Node* x, tensorflow::DataType type) const {
  NodeBuilder builder = New(suffix, "Bitcast");
  return Add(builder.Input(x).Attr("type", type));
}

absl::StatusOr<Node*> NodeMaker::Cast(const std::string& suffix, NodeBuilder::NodeOut x,
                                      tensorflow::DataType type) const {
  NodeBuilder builder = New(suffix, "Cast");
  return Add(builder.Input(x).Attr("DstT", type));
}

absl::StatusOr<Node*> OnlyOutput(tensorflow::OutputTensor flag, const NodeMaker& maker) {
  if (flag.node->num_outputs() == 1) return flag.node;
  NodeBuilder builder = maker.New("flag", "LogicalAnd");
  return maker.Add(builder.Input(flag.node, flag.index).Input(flag.node, flag.index));
}

void MoveConsumers(tensorflow::Graph* graph, Node* from, Node* to) {
  for (const tensorflow::Edge* edge : OutEdges(*from)) {
    Node* user = edge->dst();
    const int output = edge->src_output();
    const int input = edge->dst_input();
    graph->RemoveEdge(edge);
    if (output == tensorflow::Graph::kControlSlot) {
      graph->AddControlEdge(to, user, /*allow_duplicates=*/true);
    } else {
      graph->AddEdge(to, output, user, input);
    }
  }
}

}  // namespace hpu::passes
