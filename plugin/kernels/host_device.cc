#include "plugin/kernels/host_device.h"

#include <utility>

#include "tensorflow/core/common_runtime/device_factory.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/public/session_options.h"

namespace hpu {

absl::StatusOr<HostDevice*> HostDevice::Get() {
  static const auto* host = new absl::StatusOr<HostDevice*>([]() -> absl::StatusOr<HostDevice*> {
    std::unique_ptr<tensorflow::Device> device =
        tensorflow::DeviceFactory::NewDevice("CPU", tensorflow::SessionOptions(), "/job:localhost/replica:0/task:0");
    if (device == nullptr) return absl::InternalError("TensorFlow has no CPU device to run fallbacks on");
    return new HostDevice(std::move(device));
  }());
  return *host;
}

HostDevice::HostDevice(std::unique_ptr<tensorflow::Device> device)
    : device_(device.get()),
      devices_(std::make_unique<tensorflow::StaticDeviceMgr>(std::move(device))),
      runner_([](std::function<void()> closure) { tensorflow::Env::Default()->SchedClosure(std::move(closure)); }) {}

tensorflow::Tensor HostDevice::MakeVariable(tensorflow::Device* device, const tensorflow::Tensor* value,
                                            const tensorflow::ResourceHandle& like) {
  auto* variable = new tensorflow::Var(value != nullptr ? value->dtype() : tensorflow::DT_INVALID);
  if (value != nullptr) {
    *variable->tensor() = *value;
    variable->is_initialized = true;
  }
  tensorflow::Tensor handle(tensorflow::DT_RESOURCE, tensorflow::TensorShape());
  handle.scalar<tensorflow::ResourceHandle>()() = tensorflow::ResourceHandle::MakeRefCountingHandle(
      variable, device->name(), like.dtypes_and_shapes(), like.definition_stack_trace());
  return handle;
}

}  // namespace hpu
