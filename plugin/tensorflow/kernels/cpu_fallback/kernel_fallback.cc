#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/notification.h"
#include "plugin/base/status_macros.h"
#include "plugin/passes/analysis/kernel_search.h"
#include "plugin/tensorflow/kernels/cpu_fallback/cpu_fallback.h"
#include "plugin/tensorflow/kernels/cpu_fallback/host_call.h"
#include "plugin/tensorflow/kernels/cpu_fallback/host_device.h"
#include "plugin/tensorflow/kernels/cpu_fallback/host_precision.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"

namespace hpu {
namespace {

class KernelFallback : public CpuFallback {
 public:
  KernelFallback(HostDevice* host, std::unique_ptr<tensorflow::OpKernel> kernel)
      : host_(host), kernel_(std::move(kernel)) {}

  absl::Status Run(tensorflow::OpKernelContext* outer, std::vector<tensorflow::Tensor> inputs,
                   std::vector<tensorflow::Tensor>* outputs) override {
    HostCall call(outer, outer->cancellation_manager(), kernel_.get(), host_->device(), host_->runner(),
                  std::move(inputs));
    if (tensorflow::AsyncOpKernel* async = kernel_->AsAsync()) {
      absl::Notification done;
      host_->device()->ComputeAsync(async, call.context(), [&done] { done.Notify(); });
      done.WaitForNotification();
    } else {
      host_->device()->Compute(kernel_.get(), call.context());
    }
    return call.TakeOutputs(outputs);
  }

 private:
  HostDevice* const host_;
  const std::unique_ptr<tensorflow::OpKernel> kernel_;
};

// Class of the CPU kernels of XLA's ops, which require a function library and compile the op for the CPU.
constexpr absl::string_view kCompilesForCpu = "XlaCompileOnDemandOp";

// Returns an empty string if there is no CPU kernel.
std::string CpuKernelName(const tensorflow::NodeDef& node) {
  std::string name;
  return passes::FindKernel("CPU", node, &name) != nullptr ? name : "";
}

// Returns a function that consists of the node.
absl::StatusOr<tensorflow::FunctionDef> AsFunction(const tensorflow::NodeDef& node) {
  const tensorflow::OpDef* op = nullptr;
  HPU_RETURN_IF_ERROR(tensorflow::OpRegistry::Global()->LookUpOpDef(node.op(), &op));
  tensorflow::DataTypeVector inputs, outputs;
  HPU_RETURN_IF_ERROR(tensorflow::InOutTypesForNode(node, *op, &inputs, &outputs));
  tensorflow::NameRangeMap results;
  HPU_RETURN_IF_ERROR(tensorflow::NameRangesForNode(tensorflow::AttrSlice(node), *op, nullptr, &results));
  tensorflow::FunctionDef function;
  tensorflow::OpDef* signature = function.mutable_signature();
  signature->set_name(absl::StrCat(node.op(), "InFloat32"));
  signature->set_is_stateful(op->is_stateful());
  tensorflow::NodeDef* copy = function.add_node_def();
  *copy = node;
  copy->set_name("op");
  copy->clear_input();
  for (size_t i = 0; i < inputs.size(); ++i) {
    tensorflow::OpDef::ArgDef* argument = signature->add_input_arg();
    argument->set_name(absl::StrCat("x", i));
    argument->set_type(inputs[i]);
    copy->add_input(argument->name());
  }
  for (const tensorflow::OpDef::ArgDef& result : op->output_arg()) {
    const auto [begin, end] = results.at(result.name());
    for (int i = begin; i < end; ++i) {
      tensorflow::OpDef::ArgDef* output = signature->add_output_arg();
      output->set_name(absl::StrCat("y", i));
      output->set_type(outputs[i]);
      (*function.mutable_ret())[output->name()] = absl::StrCat("op:", result.name(), ":", i - begin);
    }
  }
  return function;
}

absl::StatusOr<std::unique_ptr<CpuFallback>> MakeFloat32Fallback(const tensorflow::NodeDef& node,
                                                                 int graph_def_version) {
  HPU_ASSIGN_OR_RETURN(tensorflow::FunctionDef function, AsFunction(node));
  tensorflow::NameAttrList call;
  call.set_name(function.signature().name());
  tensorflow::FunctionLibraryDefinition library(tensorflow::OpRegistry::Global(), tensorflow::FunctionDefLibrary());
  HPU_RETURN_IF_ERROR(library.AddFunctionDef(function));
  return MakeFunctionFallback(call, library, graph_def_version);
}

}  // namespace

bool HasCpuKernel(const tensorflow::NodeDef& node) {
  const std::string name = CpuKernelName(node);
  return !name.empty() && name != kCompilesForCpu;
}

absl::StatusOr<std::unique_ptr<CpuFallback>> MakeKernelFallback(const tensorflow::NodeDef& node,
                                                                int graph_def_version) {
  if (CpuKernelName(node) == kCompilesForCpu) {
    return absl::NotFoundError(absl::StrCat("no CPU kernel for op ", node.op(),
                                            ": TensorFlow runs the op on the CPU only through XLA; use another op"));
  }
  if (HasCpuKernelInFloat32Only(node)) return MakeFloat32Fallback(node, graph_def_version);
  HPU_ASSIGN_OR_RETURN(HostDevice * host, HostDevice::Get());
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<tensorflow::OpKernel> kernel, MakeCpuKernel(node, graph_def_version));
  return std::unique_ptr<CpuFallback>(new KernelFallback(host, std::move(kernel)));
}

}  // namespace hpu
