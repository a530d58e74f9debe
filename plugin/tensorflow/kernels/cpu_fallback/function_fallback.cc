#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/threads/caller_threads.h"
#include "plugin/base/version/contact.h"
#include "plugin/compat/function_runtimes.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/tensorflow/kernels/cpu_fallback/call_cancellation.h"
#include "plugin/tensorflow/kernels/cpu_fallback/cpu_fallback.h"
#include "plugin/tensorflow/kernels/cpu_fallback/cpu_rewrites.h"
#include "plugin/tensorflow/kernels/cpu_fallback/host_device.h"
#include "plugin/tensorflow/kernels/cpu_fallback/host_layout.h"
#include "plugin/tensorflow/kernels/cpu_fallback/host_precision.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu {
namespace {

using tensorflow::FunctionDef;
using tensorflow::FunctionLibraryDefinition;
using tensorflow::FunctionLibraryRuntime;

// Clears the requested device, the compiler's attributes and the memory types of a node that was placed on the HPU.
void ClearPlacement(tensorflow::NodeDef* node) {
  node->clear_device();
  for (const char* name : {"_XlaMustCompile", "_xla_compile_id", "_input_hostmem", "_output_hostmem"}) {
    node->mutable_attr()->erase(name);
  }
}

// On the CPU, branches may return different shapes, and a placeholder needs no elements. Returns whether the node is a
// placeholder.
bool ToPlaceholder(tensorflow::NodeDef* node) {
  auto& attributes = *node->mutable_attr();
  const auto shape = attributes.find(passes::kPlaceholderAttr);
  if (shape == attributes.end()) return false;
  node->set_op("FakeParam");
  node->clear_input();
  attributes["shape"] = shape->second;
  attributes["dtype"] = attributes["T"];
  for (const char* name : {passes::kPlaceholderAttr, "T"}) attributes.erase(name);
  return true;
}

// CPU kernels raise the errors themselves for which a cluster tests indices. Returns whether the node is such a test.
bool ToPassedTest(tensorflow::NodeDef* node) {
  if (node->op() != passes::kIndicesInRangeOp) return false;
  node->set_op("Const");
  node->clear_input();
  node->clear_attr();
  tensorflow::Tensor passes(true);
  tensorflow::AddNodeAttr("dtype", tensorflow::DT_BOOL, node);
  tensorflow::AddNodeAttr("value", passes, node);
  return true;
}

void ReplaceNodes(FunctionDef* function) {
  absl::flat_hash_map<std::string, std::string> renamed;  // results, by their old name
  for (tensorflow::NodeDef& node : *function->mutable_node_def()) {
    const char* const result = ToPlaceholder(&node) ? "y" : ToPassedTest(&node) ? "passes" : nullptr;
    if (result == nullptr) continue;
    renamed[absl::StrCat(node.name(), ":", result, ":0")] = absl::StrCat(node.name(), ":output:0");
  }
  const auto rename = [&](std::string* tensor) {
    if (const auto found = renamed.find(*tensor); found != renamed.end()) *tensor = found->second;
  };
  for (tensorflow::NodeDef& node : *function->mutable_node_def()) {
    for (std::string& input : *node.mutable_input()) rename(&input);
  }
  for (auto& [result, tensor] : *function->mutable_ret()) rename(&tensor);
}

FunctionDef CpuVersion(FunctionDef function) {
  for (const char* name : {"_XlaMustCompile", "_noinline"}) function.mutable_attr()->erase(name);
  for (tensorflow::NodeDef& node : *function.mutable_node_def()) ClearPlacement(&node);
  ReplaceNodes(&function);
  ToChannelsLast(&function);
  ToHostPrecision(&function);
  return function;
}

class FunctionFallback : public CpuFallback {
 public:
  FunctionFallback(HostDevice* host, std::unique_ptr<FunctionLibraryDefinition> library, int graph_def_version)
      : host_(host),
        library_(std::move(library)),
        runtime_(host->managed_device(), library_.get(), graph_def_version) {}

  absl::Status Instantiate(const tensorflow::NameAttrList& function) {
    if (runtime_.get() == nullptr) {
      return absl::InternalError(absl::StrCat("the CPU fallback's device ", host_->device()->name(),
                                              " has no function runtime; " HPU_REPORT_BUG));
    }
    return runtime_.get()->Instantiate(function.name(), tensorflow::AttrSlice(&function.attr()), &handle_);
  }

  absl::Status Run(tensorflow::OpKernelContext* outer, std::vector<tensorflow::Tensor> inputs,
                   std::vector<tensorflow::Tensor>* outputs) override {
    CallCancellation cancellation(outer);
    FunctionLibraryRuntime::Options options(outer->step_id());
    CallerThreads threads(outer->runner() != nullptr ? *outer->runner() : *host_->runner());
    options.runner = threads.runner();
    options.create_rendezvous = true;
    options.cancellation_manager = cancellation.get();
    absl::Status status;
    runtime_.get()->Run(options, handle_, inputs, outputs,
                        [&status, end = threads.ending()](const absl::Status& ended) {
                          status = ended;
                          end();
                        });
    threads.Wait();
    return status;
  }

 private:
  HostDevice* const host_;
  const std::unique_ptr<FunctionLibraryDefinition> library_;
  const DeviceRuntime runtime_;
  FunctionLibraryRuntime::Handle handle_ = tensorflow::kInvalidHandle;
};

}  // namespace

absl::StatusOr<std::unique_ptr<CpuFallback>> MakeFunctionFallback(const tensorflow::NameAttrList& function,
                                                                  const FunctionLibraryDefinition& library,
                                                                  int graph_def_version) {
  HPU_ASSIGN_OR_RETURN(HostDevice * host, HostDevice::Get());
  const FunctionDef* definition = library.Find(function.name());
  if (definition == nullptr) {
    return absl::NotFoundError(absl::StrCat(
        "function ", function.name(), " is not in the function library; save the graph together with its functions"));
  }
  auto own =
      std::make_unique<FunctionLibraryDefinition>(tensorflow::OpRegistry::Global(), tensorflow::FunctionDefLibrary());
  tensorflow::FunctionDefLibrary reachable = library.ReachableDefinitions(*definition).ToProto();
  for (FunctionDef& other : *reachable.mutable_function()) {
    if (other.signature().name() != function.name())
      HPU_RETURN_IF_ERROR(own->AddFunctionDef(CpuVersion(std::move(other))));
  }
  for (const tensorflow::GradientDef& gradient : reachable.gradient()) {
    HPU_RETURN_IF_ERROR(own->AddGradientDef(gradient));
  }
  HPU_ASSIGN_OR_RETURN(const FunctionDef rewritten,
                       WithCpuRewrites(CpuVersion(*definition), own.get(), host->device()));
  HPU_RETURN_IF_ERROR(own->AddFunctionDef(rewritten));
  auto program = std::make_unique<FunctionFallback>(host, std::move(own), graph_def_version);
  HPU_RETURN_IF_ERROR(program->Instantiate(function));
  return std::unique_ptr<CpuFallback>(std::move(program));
}

}  // namespace hpu
