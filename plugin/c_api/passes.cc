// Graph pass functions of the C interface.
#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "plugin/base/status_macros.h"
#include "plugin/c_api/c_api.h"
#include "plugin/c_api/c_buffer.h"
#include "plugin/compat/graph_rewrites.h"
#include "plugin/passes/analysis/unlisted_ops.h"
#include "plugin/passes/clustering/recluster.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/pipeline.h"
#include "tensorflow/core/framework/graph.pb.h"

namespace hpu::passes {
namespace {

// Deterministic: map entries are sorted.
std::string Serialize(const tensorflow::GraphDef& graph) {
  std::string bytes;
  tensorflow::protobuf::io::StringOutputStream stream(&bytes);
  tensorflow::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  graph.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

absl::Status Import(const void* data, size_t size, tensorflow::FunctionLibraryDefinition* library,
                    std::unique_ptr<tensorflow::Graph>* graph) {
  tensorflow::GraphDef definition;
  if (!definition.ParseFromArray(data, static_cast<int>(size))) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot parse the graph (", size, " bytes): expected a serialised GraphDef"));
  }
  HPU_RETURN_IF_ERROR(library->AddLibrary(definition.library()));
  *graph = std::make_unique<tensorflow::Graph>(library);
  tensorflow::GraphConstructorOptions options;
  options.allow_internal_ops = true;
  options.expect_device_spec = false;
  options.add_default_attributes = true;
  definition.clear_library();
  HPU_RETURN_IF_ERROR(tensorflow::ConvertGraphDefToGraph(options, std::move(definition), graph->get()));
  // A placed graph has its devices assigned.
  for (tensorflow::Node* node : (*graph)->op_nodes()) node->set_assigned_device_name(node->requested_device());
  return absl::OkStatus();
}

std::string Export(const tensorflow::Graph& graph, const tensorflow::FunctionLibraryDefinition& library) {
  tensorflow::GraphDef result;
  graph.ToGraphDef(&result);
  *result.mutable_library() = SortedLibrary(library);
  return Serialize(result);
}

absl::Status RunOn(const void* data, size_t size, const char* name, const char* function, std::string* graph_out,
                   std::string* report_out) {
  tensorflow::FunctionLibraryDefinition library(tensorflow::OpRegistry::Global(), tensorflow::FunctionDefLibrary());
  std::unique_ptr<tensorflow::Graph> graph;
  HPU_RETURN_IF_ERROR(Import(data, size, &library, &graph));
  PassContext context(&graph, &library, GraphName(function), Settings::FromEnvironment());
  context.report.set_function(function);
  if (std::strcmp(name, "all") == 0) {
    HPU_RETURN_IF_ERROR(RunPasses(&context));
  } else {
    HPU_RETURN_IF_ERROR(RunPass(&context, name));
  }
  *graph_out = Export(*graph, library);
  *report_out = context.report.SerializeAsString();
  return absl::OkStatus();
}

absl::Status Split(const void* data, size_t size, const char* cluster, const char* refused, const char* device,
                   std::string* graph_out, std::string* name_out) {
  tensorflow::FunctionLibraryDefinition library(tensorflow::OpRegistry::Global(), tensorflow::FunctionDefLibrary());
  std::unique_ptr<tensorflow::Graph> graph;
  HPU_RETURN_IF_ERROR(Import(data, size, &library, &graph));
  const std::vector<std::string> names = absl::StrSplit(refused, '\n', absl::SkipEmpty());
  HPU_ASSIGN_OR_RETURN(const SplitCluster split, ReclusterWithout(cluster, names, device, &library));
  *name_out = split.function;
  *graph_out = Export(*graph, library);
  return absl::OkStatus();
}

}  // namespace
}  // namespace hpu::passes

int32_t hpu_run_graph_pass(const void* graph, size_t size, const char* pass, const char* function,
                           hpu_buffer* graph_out, hpu_buffer* report_out) {
  std::string result;
  std::string report;
  const absl::Status status = hpu::passes::RunOn(graph, size, pass, function, &result, &report);
  *graph_out = hpu::MakeBuffer(result);
  *report_out = hpu::MakeBuffer(status.ok() ? report : std::string(status.message()));
  return static_cast<int32_t>(status.code());
}

int32_t hpu_split_cluster(const void* graph, size_t size, const char* cluster, const char* refused, const char* device,
                          hpu_buffer* graph_out, hpu_buffer* name_out) {
  std::string result;
  std::string name;
  const absl::Status status = hpu::passes::Split(graph, size, cluster, refused, device, &result, &name);
  *graph_out = hpu::MakeBuffer(result);
  *name_out = hpu::MakeBuffer(status.ok() ? name : std::string(status.message()));
  return static_cast<int32_t>(status.code());
}

void hpu_log_unlisted_ops() { hpu::passes::LogUnlistedOps(); }

hpu_buffer hpu_graph_reports() { return hpu::MakeBuffer(hpu::passes::RecentReports().SerializeAsString()); }
