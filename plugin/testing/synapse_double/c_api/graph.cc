// C functions: graphs and their compilation.
#include "plugin/testing/synapse_double/graph/graph.h"

#include "plugin/testing/synapse_double/c_api/exports.h"
#include "plugin/testing/synapse_double/graph/compile.h"
#include "plugin/testing/synapse_double/runtime/process.h"
#include "plugin/testing/synapse_double/runtime/release.h"

namespace hpu::synapse {

using synapse_double::Graph;
using synapse_double::Handles;
using synapse_double::NotModelled;
using synapse_double::Refuse;
using synapse_double::Report;
using synapse_double::Rule;
using synapse_double::Text;

namespace {

synStatus CreateGraph(synGraphHandle* graph, synDeviceType type) {
  SYNAPSE_DOUBLE_REQUIRE_POINTER(graph);
  for (const Generation generation : kGenerations) {
    if (synapse_double::ThisRelease().device_type(generation) != type) continue;
    *graph = Handles::Get().Add<synGraphHandle>(std::make_shared<Graph>(generation));
    return synSuccess;
  }
  return Refuse(Rule::kArguments, synInvalidArgument,
                Text("device type ", uint32_t{type}, ": not a Gaudi of this release"));
}

}  // namespace

synStatus synGraphCreate(synGraphHandle* graph, const synDeviceType type) {
  SYNAPSE_DOUBLE_CALL();
  return CreateGraph(graph, type);
}

#ifndef SYNAPSE_DOUBLE_1_5
synStatus synGraphCreateEager(synGraphHandle* graph, const synDeviceType type) {
  SYNAPSE_DOUBLE_CALL();
  return CreateGraph(graph, type);
}
#endif

synStatus synGraphDestroy(const synGraphHandle graph) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Graph> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(graph, &found));
  for (const auto& tensor : found->tensors()) Handles::Get().Remove(tensor->handle);
  for (const auto& section : found->sections()) Handles::Get().Remove(section->handle);
  Handles::Get().Remove(graph);
  return synSuccess;
}

synStatus synGraphGetDeviceType(const synGraphHandle graph, synDeviceType* type) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(type);
  std::shared_ptr<Graph> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(graph, &found));
  *type = static_cast<synDeviceType>(synapse_double::ThisRelease().device_type(found->generation()));
  return synSuccess;
}

synStatus synGraphSetAttributes(synGraphHandle graph, const synGraphAttribute* attributes,
                                const synGraphAttributeVal* values, const uint32_t count) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(attributes);
  SYNAPSE_DOUBLE_REQUIRE_POINTER(values);
  std::shared_ptr<Graph> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(graph, &found));
  for (uint32_t i = 0; i < count; ++i) {
    switch (attributes[i]) {
      case GRAPH_ATTRIBUTE_INFERENCE:
        found->set_inference(values[i].iAttrVal != 0);
        break;
      case GRAPH_ATTRIBUTE_QUANTIZATION:
        if (values[i].iAttrVal != 0) return Report(NotModelled("attribute QUANTIZATION"));
        break;
      case GRAPH_ATTRIBUTE_BACKOFF_FACTOR:
        break;
      default:
        return Refuse(Rule::kArguments, synInvalidArgument, Text("unknown graph attribute ", uint32_t{attributes[i]}));
    }
  }
  return synSuccess;
}

synStatus synGraphDuplicate(synGraphHandle graph, synGraphHandle* copy, synTensorHandleMap* tensors,
                            uint32_t* tensor_count, synNodeHandleMap* nodes, uint32_t* node_count) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(tensor_count);
  SYNAPSE_DOUBLE_REQUIRE_POINTER(node_count);
  std::shared_ptr<Graph> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(graph, &found));
  const auto tensor_total = static_cast<uint32_t>(found->tensors().size());
  const auto node_total = static_cast<uint32_t>(found->nodes().size());
  // Null maps ask for the counts.
  const bool asks = tensors == nullptr && nodes == nullptr;
  if (!asks) {
    SYNAPSE_DOUBLE_REQUIRE_POINTER(copy);
    SYNAPSE_DOUBLE_REQUIRE_POINTER(tensors);
    SYNAPSE_DOUBLE_REQUIRE_POINTER(nodes);
    if (*tensor_count < tensor_total || *node_count < node_total) {
      return Refuse(Rule::kArguments, synInvalidArgument,
                    Text("maps of ", *tensor_count, " tensors and ", *node_count, " nodes; the graph has ",
                         tensor_total, " and ", node_total));
    }
  }
  *tensor_count = tensor_total;
  *node_count = node_total;
  if (asks) return synSuccess;
  const std::shared_ptr<Graph> duplicate = found->Duplicate();
  for (uint32_t i = 0; i < tensor_total; ++i) {
    const auto& tensor = duplicate->tensors()[i];
    tensor->handle = Handles::Get().Add<synTensor>(tensor);
    tensors[i] = {found->tensors()[i]->handle, tensor->handle};
  }
  for (const auto& section : duplicate->sections()) section->handle = Handles::Get().Add<synSectionHandle>(section);
  for (uint32_t i = 0; i < node_total; ++i) nodes[i] = {found->nodes()[i]->id, duplicate->nodes()[i]->id};
  *copy = Handles::Get().Add<synGraphHandle>(duplicate);
  return synSuccess;
}

// The double infers no sizes. It checks the sizes that the caller set.
synStatus synGraphInferShapes(synGraphHandle graph) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Graph> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(graph, &found));
  return Report(found->CheckNodes());
}

synStatus synGraphCompile(synRecipeHandle* recipe, const synGraphHandle graph, const char* name,
                          const char* /*build_log*/) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(recipe);
  std::shared_ptr<Graph> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(graph, &found));
  synapse_double::RecipeData data;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Report(Compile(*found, name == nullptr ? "" : name, &data)));
  *recipe = Handles::Get().Add<synRecipeHandle>(std::make_shared<synapse_double::Recipe>(std::move(data)));
  return synSuccess;
}

}  // namespace hpu::synapse
