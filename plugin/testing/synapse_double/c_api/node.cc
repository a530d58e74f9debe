// C functions: nodes of graphs.
#include "plugin/testing/synapse_double/graph/node.h"

#include "plugin/testing/synapse_double/c_api/exports.h"
#include "plugin/testing/synapse_double/graph/graph.h"
#include "plugin/testing/synapse_double/runtime/process.h"

namespace hpu::synapse {

using synapse_double::Graph;
using synapse_double::Handles;
using synapse_double::Node;
using synapse_double::Refuse;
using synapse_double::Report;
using synapse_double::Rule;
using synapse_double::Tensor;
using synapse_double::Text;

namespace {

// Null handles are missing operands.
synStatus FindTensors(const synTensor* handles, uint32_t count, std::vector<Tensor*>* tensors) {
  if (count > 0) SYNAPSE_DOUBLE_REQUIRE_POINTER(handles);
  for (uint32_t i = 0; i < count; ++i) {
    std::shared_ptr<Tensor> found;
    if (handles[i] != nullptr) SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(handles[i], &found));
    tensors->push_back(found.get());  // the graph owns it, or AddNode refuses it
  }
  return synSuccess;
}

synStatus CopyParams(const void* params, unsigned size, std::vector<char>* copy) {
  if (size == 0) return synSuccess;
  if (params == nullptr) {
    return Refuse(Rule::kParams, synInvalidArgument, Text("null params of ", size, " bytes"));
  }
  copy->assign(static_cast<const char*>(params), static_cast<const char*>(params) + size);
  return synSuccess;
}

synStatus CreateNode(synGraphHandle graph, const synTensor* inputs, const synTensor* outputs, uint32_t input_count,
                     uint32_t output_count, const void* params, unsigned params_size, const char* guid,
                     const char* name, synNodeId* id, const char** input_layouts, const char** output_layouts) {
  SYNAPSE_DOUBLE_REQUIRE_POINTER(guid);
  std::shared_ptr<Graph> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(graph, &found));
  Node node;
  node.guid = guid;
  node.name = name == nullptr ? "" : name;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(FindTensors(inputs, input_count, &node.inputs));
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(FindTensors(outputs, output_count, &node.outputs));
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(CopyParams(params, params_size, &node.params));
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Report(CheckLayouts(node, input_layouts, input_count, false)));
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Report(CheckLayouts(node, output_layouts, output_count, true)));
  return Report(found->AddNode(std::move(node), id));
}

// Applies `change` to a node of a live graph and reports its verdict.
template <typename Change>
synStatus ChangeNode(synGraphHandle graph, synNodeId id, const Change& change) {
  std::shared_ptr<Graph> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(graph, &found));
  Node* const node = found->FindNode(id);
  if (node == nullptr) {
    return Refuse(Rule::kHandles, synInvalidArgument, Text("node id ", id, ": the graph has no such node"));
  }
  return Report(change(*found, *node));
}

}  // namespace

synStatus synNodeCreate(const synGraphHandle graph, const synTensor* inputs, const synTensor* outputs,
                        const uint32_t input_count, const uint32_t output_count, const void* params,
                        const unsigned params_size, const char* guid, const char* name, const char** input_layouts,
                        const char** output_layouts) {
  SYNAPSE_DOUBLE_CALL();
  synNodeId id;
  return CreateNode(graph, inputs, outputs, input_count, output_count, params, params_size, guid, name, &id,
                    input_layouts, output_layouts);
}

synStatus synNodeCreateWithId(const synGraphHandle graph, const synTensor* inputs, const synTensor* outputs,
                              const uint32_t input_count, const uint32_t output_count, const void* params,
                              const unsigned params_size, const char* guid, const char* name, synNodeId* node,
                              const char** input_layouts, const char** output_layouts) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(node);
  return CreateNode(graph, inputs, outputs, input_count, output_count, params, params_size, guid, name, node,
                    input_layouts, output_layouts);
}

synStatus synNodeDependencySet(const synGraphHandle graph, const synNodeId* blocking, const synNodeId* blocked,
                               const uint32_t blocking_count, const uint32_t blocked_count) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(blocking);
  SYNAPSE_DOUBLE_REQUIRE_POINTER(blocked);
  std::shared_ptr<Graph> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(graph, &found));
  return Report(found->AddDependencies({blocking, blocking + blocking_count}, {blocked, blocked + blocked_count}));
}

// Kernels of the double compute in f32 or wider whatever the precision, so the double refuses the call.
synStatus synNodeTypeSetPrecision(const synGraphHandle graph, const char* guid, synDataType /*precision*/) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(guid);
  std::shared_ptr<Graph> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(graph, &found));
  return Report(synapse_double::NotModelled("precision of nodes ", guid));
}

#ifndef SYNAPSE_DOUBLE_1_5
synStatus synNodeSetDeterministic(const synGraphHandle graph, const synNodeId node, const bool deterministic) {
  SYNAPSE_DOUBLE_CALL();
  return ChangeNode(graph, node, [&](Graph&, Node& found) {
    found.deterministic = deterministic;
    return synapse_double::Verdict{};
  });
}

synStatus synNodeSetRoundingMode(const synGraphHandle graph, const synNodeId node, const synRoundingMode mode) {
  SYNAPSE_DOUBLE_CALL();
  return ChangeNode(graph, node, [&](Graph&, Node& found) {
    if (mode != synRoundToNearest) {
      return synapse_double::NotModelled(found.Describe(), ": rounding mode ", uint32_t{mode});
    }
    found.rounding = mode;
    return synapse_double::Verdict{};
  });
}

synStatus synNodeSetUserParams(const synGraphHandle graph, const synNodeId node, const void* params,
                               const unsigned params_size) {
  SYNAPSE_DOUBLE_CALL();
  std::vector<char> copy;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(CopyParams(params, params_size, &copy));
  return ChangeNode(graph, node, [&](Graph& found, Node& changed) { return found.SetParams(&changed, copy); });
}
#endif

}  // namespace hpu::synapse
