#include "plugin/tensorflow/kernels/launch/split_program.h"

#include <functional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/function_runtimes.h"
#include "plugin/tensorflow/kernels/cpu_fallback/call_cancellation.h"
#include "tensorflow/core/framework/device.h"

namespace hpu {
namespace {

using tensorflow::Tensor;

// Returns the tensor in the memory that an argument of a function on the HPU requires. int32 and types that cannot be
// copied byte by byte stay in host memory. Other tensors in host memory, such as a cluster's compile-time constants,
// are copied to device memory.
absl::StatusOr<Tensor> AtFunctionBorder(tensorflow::OpKernelContext* context, ProcessDevice& device,
                                        const Tensor& tensor) {
  const bool stays = tensor.dtype() == tensorflow::DT_INT32 || !tensorflow::DataTypeCanUseMemcpy(tensor.dtype());
  if (stays || tensor.TotalBytes() == 0 || device.Owns(tensor.data())) return tensor;
  Tensor copy;
  HPU_RETURN_IF_ERROR(context->allocate_temp(tensor.dtype(), tensor.shape(), &copy));
  HPU_RETURN_IF_ERROR(device.CopyToDevice(tensor.data(), AddressOf(copy), tensor.TotalBytes()));
  return copy;
}

}  // namespace

std::vector<std::string> NodesNamedIn(absl::string_view message) {
  constexpr absl::string_view kBegin = "{{node ";
  std::vector<std::string> names;
  for (size_t at = message.find(kBegin); at != absl::string_view::npos; at = message.find(kBegin, at)) {
    at += kBegin.size();
    const size_t end = message.find("}}", at);
    if (end == absl::string_view::npos) break;
    std::string name(message.substr(at, end - at));
    if (!absl::c_linear_search(names, name)) names.push_back(std::move(name));
  }
  return names;
}

absl::StatusOr<std::unique_ptr<SplitProgram>> SplitProgram::Make(tensorflow::FunctionLibraryRuntime* runtime,
                                                                 const std::string& function,
                                                                 const std::vector<std::string>& refused) {
  return Make(runtime, function, [&](tensorflow::FunctionLibraryDefinition* library) {
    return passes::ReclusterWithout(function, refused, runtime->device()->name(), library);
  });
}

absl::StatusOr<std::unique_ptr<SplitProgram>> SplitProgram::MakeForRandomOps(
    tensorflow::FunctionLibraryRuntime* runtime, const std::string& function) {
  return Make(runtime, function, [&](tensorflow::FunctionLibraryDefinition* library) {
    return passes::ReclusterRandomOps(function, runtime->device()->name(), library);
  });
}

absl::StatusOr<std::unique_ptr<SplitProgram>> SplitProgram::Make(tensorflow::FunctionLibraryRuntime* runtime,
                                                                 const std::string& function, Recluster recluster) {
  auto library = std::make_unique<tensorflow::FunctionLibraryDefinition>(*runtime->GetFunctionLibraryDefinition());
  HPU_ASSIGN_OR_RETURN(const passes::SplitCluster split, recluster(library.get()));
  if (split.clusters == 0) {
    return absl::InvalidArgumentError(absl::StrCat(function, ": no cluster remains after removing the failed ops"));
  }
  auto program = std::unique_ptr<SplitProgram>(new SplitProgram(runtime, std::move(library), split.removed));
  tensorflow::FunctionLibraryRuntime::InstantiateOptions options;
  options.lib_def = program->library_.get();
  HPU_RETURN_IF_ERROR(runtime->Instantiate(split.function, tensorflow::AttrSlice(), options, &program->handle_));
  return program;
}

SplitProgram::~SplitProgram() {
  if (handle_ != tensorflow::kInvalidHandle) runtime_->ReleaseHandle(handle_).IgnoreError();
}

absl::Status SplitProgram::Run(tensorflow::OpKernelContext* context, ProcessDevice& device) const {
  std::vector<Tensor> arguments;
  for (int i = 0; i < context->num_inputs(); ++i) {
    HPU_ASSIGN_OR_RETURN(Tensor argument, AtFunctionBorder(context, device, context->input(i)));
    arguments.push_back(std::move(argument));
  }
  CallCancellation cancellation(context);
  tensorflow::FunctionLibraryRuntime::Options options(context->step_id());
  options.cancellation_manager = cancellation.get();
  options.step_container = context->step_container();
  // Runs on this thread. Waiting for the runner's threads could deadlock, because this kernel may occupy the last
  // thread.
  std::function<void(std::function<void()>)> here = [](const std::function<void()>& closure) { closure(); };
  options.runner = &here;
  options.run_all_kernels_inline = true;
  std::vector<Tensor> results;
  HPU_RETURN_IF_ERROR(RunWithOwnRendezvous(runtime_, std::move(options), handle_, arguments, &results));
  for (int i = 0; i < context->num_outputs(); ++i) context->set_output(i, results[i]);
  return absl::OkStatus();
}

}  // namespace hpu
