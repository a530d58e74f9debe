#include "plugin/compat/function_runtimes.h"

#include <cstdint>
#include <utility>

#include "plugin/base/status_macros.h"
#include "tensorflow/core/common_runtime/device_mgr.h"
#include "tensorflow/core/common_runtime/process_function_library_runtime.h"
#include "tensorflow/core/common_runtime/rendezvous_mgr.h"
#include "tensorflow/core/public/version.h"

namespace hpu {

using tensorflow::FunctionLibraryDefinition;
using tensorflow::FunctionLibraryRuntime;
using tensorflow::ProcessFunctionLibraryRuntime;

namespace {

absl::Status MakeRendezvous(int64_t, const tensorflow::DeviceMgr* devices,
                            tsl::core::RefCountPtr<tensorflow::Rendezvous>* rendezvous) {
  rendezvous->reset(new tensorflow::RefCountedIntraProcessRendezvous(devices));
  return absl::OkStatus();
}

}  // namespace

AnalysisRuntime::AnalysisRuntime(const FunctionLibraryDefinition* library)
    : runtimes_(std::make_unique<ProcessFunctionLibraryRuntime>(
          /*device_mgr=*/nullptr, tensorflow::Env::Default(), /*config=*/nullptr, TF_GRAPH_DEF_VERSION, library,
          tensorflow::OptimizerOptions())) {}

AnalysisRuntime::~AnalysisRuntime() = default;

FunctionLibraryRuntime* AnalysisRuntime::get() const {
  return runtimes_->GetFLR(ProcessFunctionLibraryRuntime::kDefaultFLRDevice);
}

ManagedDevice::ManagedDevice(std::unique_ptr<tensorflow::Device> device)
    : device_(device.get()), manager_(std::make_unique<tensorflow::StaticDeviceMgr>(std::move(device))) {}

ManagedDevice::~ManagedDevice() = default;

DeviceRuntime::DeviceRuntime(const ManagedDevice& device, const FunctionLibraryDefinition* library,
                             int graph_def_version)
    : runtimes_(std::make_unique<ProcessFunctionLibraryRuntime>(
          device.manager(), tensorflow::Env::Default(), /*config=*/nullptr, graph_def_version, library,
          tensorflow::OptimizerOptions(), /*thread_pool=*/nullptr, /*parent=*/nullptr, /*session_metadata=*/nullptr,
          tensorflow::Rendezvous::Factory(MakeRendezvous))),
      runtime_(runtimes_->GetFLR(device.get()->name())) {}

DeviceRuntime::~DeviceRuntime() = default;

absl::Status RunWithOwnRendezvous(FunctionLibraryRuntime* runtime, FunctionLibraryRuntime::Options options,
                                  FunctionLibraryRuntime::Handle function,
                                  const std::vector<tensorflow::Tensor>& arguments,
                                  std::vector<tensorflow::Tensor>* results) {
  tensorflow::PrivateIntraProcessRendezvous rendezvous(runtime->device_mgr());
  options.rendezvous = &rendezvous;
  return runtime->RunSync(std::move(options), function, arguments, results);
}

absl::StatusOr<tensorflow::Device*> FindDevice(const FunctionLibraryRuntime& runtime, const std::string& name) {
  tensorflow::Device* device = nullptr;
  HPU_RETURN_IF_ERROR(runtime.device_mgr()->LookupDevice(name, &device));
  return device;
}

}  // namespace hpu
