#include "plugin/tensorflow/device/hpu_device.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/proto_text.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/device_copies.h"
#include "plugin/tensorflow/device/device_context.h"
#include "plugin/tensorflow/device/fork_guard.h"
#include "plugin/tensorflow/device/hpu_allocator.h"
#include "plugin/tensorflow/device/process_device.h"
#include "tsl/platform/logging.h"

namespace hpu {

using tensorflow::AllocatorAttributes;
using tensorflow::Tensor;

namespace {

// Status of this thread's last Sync().
thread_local absl::Status last_read;

}  // namespace

HpuDevice::HpuDevice(const tensorflow::SessionOptions& options, const tensorflow::DeviceAttributes& attributes)
    : LocalDevice(options, attributes),
      context_(new HpuDeviceContext),
      scoped_allocators_(std::make_unique<tensorflow::ScopedAllocatorMgr>("HPU_0")) {
  // Without a default context, TensorFlow would copy this device's tensors like CPU tensors.
  accelerator_info_.default_context = context_;
  set_tensorflow_accelerator_device_info(&accelerator_info_);
}

HpuDevice::~HpuDevice() { context_->Unref(); }

tensorflow::Allocator* HpuDevice::GetAllocator(AllocatorAttributes attributes) {
  return attributes.on_host() ? HostAllocator() : DeviceAllocator();
}

tensorflow::Allocator* HpuDevice::GetScopedAllocator(AllocatorAttributes attributes, int64_t step_id) {
  CHECK_GT(attributes.scope_id, 0) << "a scoped allocator requires a scope id";
  return scoped_allocators_->GetContainer(step_id)->GetInstance(attributes.scope_id);
}

tensorflow::Status HpuDevice::TryGetDeviceContext(tensorflow::DeviceContext** context) {
  context_->Ref();
  *context = context_;
  return absl::OkStatus();
}

tensorflow::Status HpuDevice::MakeTensorFromProto(const tensorflow::TensorProto& proto,
                                                  const AllocatorAttributes attributes, Tensor* tensor) {
  Tensor parsed;
  AllocatorAttributes host;
  host.set_on_host(true);
  if (!parsed.FromProto(GetAllocator(host), proto)) {
    return absl::InvalidArgumentError(absl::StrCat("Cannot parse the TensorProto of a tensor on ", name(), ": dtype ",
                                                   tensorflow::DataTypeString(proto.dtype()), ", shape ",
                                                   ProtoText(proto.tensor_shape()), "; recreate the constant"));
  }
  const bool plain = tensorflow::DataTypeCanUseMemcpy(parsed.dtype());
  if (attributes.on_host() || (!plain && parsed.dtype() != tensorflow::DT_VARIANT)) {
    *tensor = std::move(parsed);
    return absl::OkStatus();
  }
  // A variant stays in host memory. The tensors in the variant are copied to the device.
  Tensor copy = plain ? Tensor(GetAllocator(attributes), parsed.dtype(), parsed.shape()) : Tensor();
  HPU_RETURN_IF_ERROR(CopyBetweenMemories(this, context_, host, attributes, parsed, &copy));
  *tensor = std::move(copy);
  return absl::OkStatus();
}

void HpuDevice::CopyTensorInSameDevice(const Tensor* input, Tensor* output, const tensorflow::DeviceContext* context,
                                       tensorflow::StatusCallback done) {
  context_->CopyTensorInSameDevice(input, this, output, std::move(done));
}

tensorflow::Status HpuDevice::Sync() {
  if (IsForkedChild()) return ForkedChildError();
  ProcessDevice* device = ProcessDevice::GetIfAcquired();
  return last_read = device == nullptr ? absl::OkStatus() : device->Synchronize();
}

tensorflow::Status HpuDevice::TakeFailedRead() { return std::exchange(last_read, absl::OkStatus()); }

void HpuDevice::Sync(const DoneCallback& done) {
  ProcessDevice* device = ProcessDevice::GetIfAcquired();
  if (device == nullptr) return done(Sync());
  device->AfterCompute(done);
}

bool IsHpu(const tensorflow::DeviceBase* device) {
  return device != nullptr && device->attributes().device_type() == kDeviceType;
}

}  // namespace hpu
