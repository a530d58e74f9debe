#include "plugin/tensorflow/device/device_context.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/base/log/log.h"
#include "plugin/compat/device_copies.h"
#include "plugin/tensorflow/device/hpu_allocator.h"
#include "plugin/tensorflow/device/process_device.h"
#include "tensorflow/core/framework/device.h"
#include "tsl/platform/logging.h"

namespace hpu {
namespace {

using tensorflow::Device;
using tensorflow::StatusCallback;
using tensorflow::Tensor;

// Returns the process's device, or an error if `tensor` cannot be copied to or from the device.
absl::StatusOr<ProcessDevice*> DeviceFor(const Tensor& tensor, const Device* device) {
  absl::StatusOr<ProcessDevice*> acquired = ProcessDevice::Get();
  if (!acquired.ok()) return acquired;
  if (!tensorflow::DataTypeCanUseMemcpy(tensor.dtype())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Tensors of type ", tensorflow::DataTypeString(tensor.dtype()), " cannot be copied to or from ", device->name(),
        ": their elements are not plain bytes. Keep them on the CPU with tf.device(\"CPU\")."));
  }
  // Eager copies do not check whether the allocation succeeded.
  if (!tensor.IsInitialized()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "OOM when allocating tensor with shape", tensor.shape().DebugString(), " and type ",
        tensorflow::DataTypeString(tensor.dtype()), " on ", device->name(), " (",
        MemoryExhaustedHint(tensor.shape().num_elements() * tensorflow::DataTypeSize(tensor.dtype())), ")"));
  }
  if (IsWithoutDevice(tensor.data())) {
    return absl::UnavailableError(
        absl::StrCat("A tensor on ", device->name(),
                     " has no memory, because the tensor was created while the device could not be "
                     "acquired. The device is available now: create the tensor again."));
  }
  return acquired;
}

// Callback of a copy: holds both tensors and releases them before it calls `done`. Memory statistics that are read
// after `done` therefore do not include the tensors.
std::function<void(absl::Status)> WhileHolding(Tensor source, Tensor destination, StatusCallback done) {
  return [source = std::move(source), destination = std::move(destination),
          done = std::move(done)](absl::Status status) mutable {
    source = Tensor();
    destination = Tensor();
    done(status);
  };
}

// If an address contradicts TensorFlow's assumption about a tensor's memory, copies by address on the caller's thread
// and returns true. The assumption may be wrong for int32 in lists and queues, and for results of iterators on the
// host. The assumption is also wrong for int32 arguments that some functions keep on the device.
bool CopyByAddress(ProcessDevice& device, const Tensor& source, bool source_expected_on_device,
                   const Tensor& destination, bool destination_expected_on_device, const StatusCallback& done) {
  const char* const from = static_cast<const char*>(source.data());
  char* const to = static_cast<char*>(destination.data());
  const bool from_device = device.Owns(from), to_device = device.Owns(to);
  if (from_device == source_expected_on_device && to_device == destination_expected_on_device) return false;
  if (from_device && to_device) {
    done(device.CopyOnDevice(AddressOf(source), AddressOf(destination), source.TotalBytes()));
  } else if (from_device) {
    done(device.CopyToHostSync(AddressOf(source), to, source.TotalBytes()));
  } else if (to_device) {
    done(device.CopyToDevice(from, AddressOf(destination), source.TotalBytes()));
  } else {
    std::memcpy(to, from, source.TotalBytes());
    done(absl::OkStatus());
  }
  return true;
}

// A process has one HPU, so a copy from HPU to HPU stays on the device.
[[maybe_unused]] const bool copies_registered = [] {
  RegisterCopiesInSameDevice("HPU");
  return true;
}();

}  // namespace

void HpuDeviceContext::CopyCPUTensorToDevice(const Tensor* cpu_tensor, Device* device, Tensor* device_tensor,
                                             StatusCallback done, bool sync_dst_compute) const {
  const uint64_t bytes = cpu_tensor->TotalBytes();
  if (bytes == 0) return done(absl::OkStatus());
  absl::StatusOr<ProcessDevice*> acquired = DeviceFor(*device_tensor, device);
  if (!acquired.ok()) return done(acquired.status());
  if (CopyByAddress(**acquired, *cpu_tensor, false, *device_tensor, true, done)) return;
  (*acquired)->CopyToDeviceAsync(cpu_tensor->data(), AddressOf(*device_tensor), bytes,
                                 WhileHolding(*cpu_tensor, *device_tensor, std::move(done)));
}

void HpuDeviceContext::CopyDeviceTensorToCPU(const Tensor* device_tensor, absl::string_view tensor_name, Device* device,
                                             Tensor* cpu_tensor, StatusCallback done) {
  const uint64_t bytes = device_tensor->TotalBytes();
  if (bytes == 0) return done(absl::OkStatus());
  absl::StatusOr<ProcessDevice*> acquired = DeviceFor(*device_tensor, device);
  if (!acquired.ok()) return done(acquired.status());
  if (CopyByAddress(**acquired, *device_tensor, true, *cpu_tensor, false, done)) return;
  (*acquired)->CopyToHost(AddressOf(*device_tensor), static_cast<char*>(cpu_tensor->data()), bytes,
                          WhileHolding(*device_tensor, *cpu_tensor, std::move(done)));
}

void HpuDeviceContext::CopyTensorInSameDevice(const Tensor* input, Device* device, Tensor* output,
                                              StatusCallback done) const {
  const uint64_t bytes = input->TotalBytes();
  if (bytes == 0 || input->SharesBufferWith(*output)) return done(absl::OkStatus());
  absl::StatusOr<ProcessDevice*> acquired = DeviceFor(*output, device);
  if (!acquired.ok()) return done(acquired.status());
  if (CopyByAddress(**acquired, *input, true, *output, true, done)) return;
  // Later work on the device is ordered after the copy, so `done` need not wait for the copy.
  done((*acquired)->CopyOnDevice(AddressOf(*input), AddressOf(*output), bytes));
}

tensorflow::Status HpuDeviceContext::ThenExecute(Device* device, stream_executor::Stream* stream,
                                                 std::function<void()> function) {
  ProcessDevice* acquired = ProcessDevice::GetIfAcquired();
  if (acquired == nullptr) {  // no work is queued
    function();
    return absl::OkStatus();
  }
  acquired->AfterCompute([device, function = std::move(function)](const absl::Status& status) {
    if (!status.ok()) {
      LOG(ERROR) << "Work on " << device->name() << " failed: " << status;
      HPU_LOG(kDevice, kError) << "work on " << device->name() << " failed: " << status;
    }
    function();
  });
  return absl::OkStatus();
}

tensorflow::Allocator* HpuDeviceContext::host_memory_allocator() const { return HostAllocator(); }

}  // namespace hpu
