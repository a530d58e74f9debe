#include "plugin/passes/analysis/static_shapes.h"

#include <algorithm>
#include <map>
#include <vector>

#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/platform/logging.h"

namespace hpu::passes {
namespace {

using tensorflow::Node;
using tensorflow::PartialTensorShape;

// The shapes of an argument and of its variable, from attributes of the argument's node.
tensorflow::InferredShape ArgumentShape(const Node& argument) {
  tensorflow::InferredShape shape;
  std::vector<PartialTensorShape> shapes;
  std::vector<tensorflow::DataType> types;
  if (tensorflow::GetNodeAttr(argument.attrs(), "_output_shapes", &shapes).ok() && !shapes.empty()) {
    shape.shape = shapes[0];
  }
  shapes.clear();
  if (tensorflow::GetNodeAttr(argument.attrs(), "_handle_shapes", &shapes).ok() && !shapes.empty() &&
      tensorflow::GetNodeAttr(argument.attrs(), "_handle_dtypes", &types).ok() && !types.empty()) {
    shape.handle_shape = shapes[0];
    shape.handle_type = types[0];
  }
  return shape;
}

}  // namespace

StaticShapes::StaticShapes(tensorflow::Graph* graph, const tensorflow::FunctionLibraryDefinition* library) {
  std::map<int, tensorflow::InferredShape> arguments;
  bool has_shapes_of_variables = false;
  for (const Node* node : graph->op_nodes()) {
    has_shapes_of_variables |= node->type_string() == "VariableShape";
    int index = 0;
    if (node->IsArg() && tensorflow::TryGetNodeAttr(node->attrs(), "index", &index)) {
      arguments[index] = ArgumentShape(*node);
    }
  }
  // InferShapes replaces VariableShape ops by constants without a device, so it gets a copy of the graph.
  tensorflow::Graph copy(graph->op_registry());
  if (has_shapes_of_variables) copy.Copy(*graph);
  const tensorflow::Status status =
      tensorflow::InferShapes(has_shapes_of_variables ? &copy : graph, arguments, library, &shapes_);
  if (!status.ok()) VLOG(1) << "shape inference failed: " << status.message();
}

PartialTensorShape StaticShapes::Shape(const Node& node, int output) const {
  const auto found = shapes_.find(node.name());
  if (found == shapes_.end() || output >= static_cast<int>(found->second.size())) return {};
  return found->second[output].shape;
}

std::pair<PartialTensorShape, tensorflow::DataType> StaticShapes::Variable(const Node& node, int output) const {
  const auto found = shapes_.find(node.name());
  if (found == shapes_.end() || output >= static_cast<int>(found->second.size())) return {{}, tensorflow::DT_INVALID};
  return {found->second[output].handle_shape, found->second[output].handle_type};
}

PartialTensorShape StaticShapes::InputShape(const Node& node, int input) const {
  const tensorflow::Edge* edge = nullptr;
  if (!node.input_edge(input, &edge).ok()) return {};
  return Shape(*edge->src(), edge->src_output());
}

int StaticShapes::LargestRank(const Node& node) const {
  int largest = 0;  // dims() of an unknown rank is -1
  for (int output = 0; output < node.num_outputs(); ++output) largest = std::max(largest, Shape(node, output).dims());
  for (int input = 0; input < node.num_inputs(); ++input) largest = std::max(largest, InputShape(node, input).dims());
  return largest;
}

}  // namespace hpu::passes
