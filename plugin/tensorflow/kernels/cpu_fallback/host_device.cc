#include "plugin/tensorflow/kernels/cpu_fallback/host_device.h"

#include <atomic>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/tensorflow/kernels/cpu_fallback/zeroed_device.h"
#include "tensorflow/core/framework/device_factory.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/public/session_options.h"
#include "tensorflow/core/util/device_name_utils.h"
#include "tsl/platform/unbounded_work_queue.h"

namespace hpu {
namespace {

std::string NewContainerName() {
  static std::atomic<int64_t> runs{0};
  return absl::StrCat("hpu_host_run_", runs.fetch_add(1, std::memory_order_relaxed));
}

}  // namespace

absl::StatusOr<HostDevice*> HostDevice::Get() {
  static const auto* host = new absl::StatusOr<HostDevice*>([]() -> absl::StatusOr<HostDevice*> {
    std::unique_ptr<tensorflow::Device> device =
        tensorflow::DeviceFactory::NewDevice("CPU", tensorflow::SessionOptions(), "/job:localhost/replica:0/task:0");
    if (device == nullptr) {
      return absl::InternalError(
          "cannot create a CPU device for the CPU fallback: TensorFlow has no CPU device factory; reinstall "
          "TensorFlow");
    }
    return new HostDevice(ZeroMemoryOf(std::move(device)));
  }());
  return *host;
}

// A closure may wait for others, so the pool grows when all its threads are busy. A process has one, which is never
// destroyed.
HostDevice::HostDevice(std::unique_ptr<tensorflow::Device> device)
    : device_(std::move(device)),
      runner_([pool = new tsl::UnboundedWorkQueue(tensorflow::Env::Default(), "hpu_host")](
                  std::function<void()> closure) { pool->Schedule(std::move(closure)); }) {}

absl::StatusOr<tensorflow::Device*> CpuDeviceOf(tensorflow::OpKernelContext* context) {
  std::string name;
  HPU_RETURN_IF_ERROR(tensorflow::DeviceNameUtils::DeviceNameToCpuDeviceName(context->device()->name(), &name));
  return FindDevice(*context->function_library(), name);
}

HostVariables::HostVariables(HostDevice& host) : device_(host.device()), container_(NewContainerName()) {}

HostVariables::~HostVariables() { device_->resource_manager()->Cleanup(container_).IgnoreError(); }

absl::StatusOr<HostVariables::Variable> HostVariables::Make(const tensorflow::Tensor* value,
                                                            const tensorflow::ResourceHandle& like) {
  // Eager variables share one name, so a number makes the new name unique. A handle that owns the variable would not
  // work, because assignments look the variable up by name.
  const std::string name = absl::StrCat(like.name(), "#", ++handles_);
  Variable variable;
  if (value != nullptr) {
    variable.var = new tensorflow::Var(value->dtype());
    variable.var->Ref();
    variables_.emplace_back(variable.var);
    *variable.var->tensor() = *value;
    variable.var->is_initialized = true;
    HPU_RETURN_IF_ERROR(device_->resource_manager()->Create(container_, name, variable.var));
  }
  variable.handle = tensorflow::Tensor(tensorflow::DT_RESOURCE, tensorflow::TensorShape());
  variable.handle.scalar<tensorflow::ResourceHandle>()() =
      tensorflow::MakeResourceHandle(container_, name, *device_, tensorflow::TypeIndex::Make<tensorflow::Var>(),
                                     like.dtypes_and_shapes(), like.definition_stack_trace());
  return variable;
}

void HostVariables::Find(Variable* variable) {
  const std::string& name = variable->handle.scalar<tensorflow::ResourceHandle>()().name();
  tensorflow::Var* var = nullptr;
  if (!device_->resource_manager()->Lookup(container_, name, &var).ok()) return;
  variable->var = var;
  variables_.emplace_back(var);
}

}  // namespace hpu
