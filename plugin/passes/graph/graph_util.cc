#include "plugin/passes/graph/graph_util.h"

#include <algorithm>
#include <cctype>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/util/device_name_utils.h"

namespace hpu::passes {
namespace {

// Removes a suffix like "_1234".
std::string_view WithoutUniqueId(std::string_view name) {
  const size_t end = name.find_last_not_of("0123456789");
  if (end == std::string_view::npos || end + 1 == name.size() || name[end] != '_' || end == 0) return name;
  return name.substr(0, end);
}

}  // namespace

bool IsHpuDevice(const std::string& device) {
  if (!absl::StrContains(device, kDeviceType)) return false;
  tensorflow::DeviceNameUtils::ParsedName parsed;
  return tensorflow::DeviceNameUtils::ParseFullName(device, &parsed) && parsed.has_type && parsed.type == kDeviceType;
}

bool IsOnHpu(const tensorflow::Node& node) {
  return node.has_assigned_device_name() && IsHpuDevice(node.assigned_device_name());
}

bool IsPlaceholderOfUnknownShape(const Node& node) {
  tensorflow::PartialTensorShape shape;
  return node.type_string() == "FakeParam" &&
         (node.output_type(0) == tensorflow::DT_VARIANT ||
          (tensorflow::GetNodeAttr(node.attrs(), "shape", &shape).ok() && !shape.IsFullyDefined()));
}

bool IsPinnedToOtherDevice(const tensorflow::Node& node) {
  tensorflow::DeviceNameUtils::ParsedName parsed;
  return tensorflow::DeviceNameUtils::ParseFullName(node.requested_device(), &parsed) && parsed.has_type &&
         parsed.type != kDeviceType;
}

std::string HostOf(const std::string& device) {
  tensorflow::DeviceNameUtils::ParsedName name;
  if (!tensorflow::DeviceNameUtils::ParseFullName(device, &name)) return device;
  name.type = "CPU";
  name.id = 0;
  return tensorflow::DeviceNameUtils::ParsedNameToString(name);
}

tensorflow::OutputTensor InputOf(const tensorflow::Node& node, int index) {
  const tensorflow::Edge* edge = nullptr;
  TF_CHECK_OK(node.input_edge(index, &edge));
  return {edge->src(), edge->src_output()};
}

std::optional<tensorflow::Tensor> ConstantOf(const tensorflow::Node& node) {
  tensorflow::Tensor value;
  if (!node.IsConstant() || !tensorflow::GetNodeAttr(node.attrs(), "value", &value).ok()) return std::nullopt;
  return value;
}

bool IsOnHost(const tensorflow::OutputTensor& tensor) {
  if (!IsOnHpu(*tensor.node)) return true;
  return tensor.node->IsArg() && tensor.node->output_type(tensor.index) == tensorflow::DT_INT32;
}

std::vector<const tensorflow::Edge*> OutEdges(const tensorflow::Node& node) {
  std::vector<const tensorflow::Edge*> edges(node.out_edges().begin(), node.out_edges().end());
  std::sort(edges.begin(), edges.end(),
            [](const tensorflow::Edge* a, const tensorflow::Edge* b) { return a->id() < b->id(); });
  return edges;
}

bool AnyOnHpu(const tensorflow::Graph& graph) {
  // Nodes store an index into the graph's table of device names. Each name is parsed only once.
  std::vector<int> verdict;
  for (const tensorflow::Node* node : graph.op_nodes()) {
    const int index = node->assigned_device_name_index();
    if (index >= static_cast<int>(verdict.size())) verdict.resize(index + 1, -1);
    if (verdict[index] < 0) verdict[index] = IsOnHpu(*node) ? 1 : 0;
    if (verdict[index] == 1) return true;
  }
  return false;
}

bool MayUseHpu(const tensorflow::GraphOptimizationPassOptions& options) {
  if (options.graph == nullptr || options.flib_def == nullptr || options.device_set == nullptr) return false;
  if (options.function_def != nullptr && IsEagerWrapper(options.function_def->signature().name())) return false;
  const bool elsewhere =
      options.default_function_device != nullptr && options.default_function_device->device_type() != kDeviceType;
  if (elsewhere) return false;
  for (const tensorflow::Device* device : options.device_set->devices()) {
    if (device->device_type() == kDeviceType) return true;
  }
  return false;
}

std::string GraphName(std::string_view function) {
  if (function.empty()) return "session";
  absl::string_view name(function.data(), function.size());
  if (!absl::ConsumePrefix(&name, "__inference_")) absl::ConsumePrefix(&name, "__");
  return AsNodeName(WithoutUniqueId({name.data(), name.size()}));
}

std::string AsNodeName(std::string_view name) {
  std::string result;
  for (const char c : name) result += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return result;
}

bool IsEagerWrapper(std::string_view function) {
  return absl::StartsWith(absl::string_view(function.data(), function.size()), "__wrapped__");
}

bool HasLoweredControlFlow(const tensorflow::Graph& graph) {
  for (const tensorflow::Node* node : graph.op_nodes()) {
    if (node->IsControlFlow()) return true;
  }
  return false;
}

bool MustCompile(const tensorflow::Node& node, const tensorflow::FunctionLibraryDefinition& library) {
  return MustCompile(node.def(), library);
}

bool MustCompile(const tensorflow::NodeDef& node, const tensorflow::FunctionLibraryDefinition& library) {
  bool must = false;
  if (tensorflow::TryGetNodeAttr(node, kXlaMustCompileAttr, &must)) return must;
  const bool is_partitioned = node.op() == "PartitionedCall" || node.op() == "StatefulPartitionedCall";
  const auto call = node.attr().find("f");
  const bool has_function = is_partitioned && call != node.attr().end();
  const tensorflow::FunctionDef* definition = library.Find(has_function ? call->second.func().name() : node.op());
  return definition != nullptr &&
         tensorflow::TryGetNodeAttr(tensorflow::AttrSlice(&definition->attr()), kXlaMustCompileAttr, &must) && must;
}

tensorflow::FunctionDefLibrary SortedLibrary(const tensorflow::FunctionLibraryDefinition& library) {
  tensorflow::FunctionDefLibrary proto = library.ToProto();
  std::sort(proto.mutable_function()->begin(), proto.mutable_function()->end(),
            [](const auto& a, const auto& b) { return a.signature().name() < b.signature().name(); });
  return proto;
}

std::string CompilationDevice() {
  constexpr char kOurs[] = "XLA_HPU_JIT";
  return tensorflow::XlaOpRegistry::IsBackendRegistered(kOurs) ? kOurs : "XLA_CPU_JIT";
}

}  // namespace hpu::passes
