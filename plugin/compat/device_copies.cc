#include "plugin/compat/device_copies.h"

#include <utility>

#include "absl/synchronization/notification.h"
#include "tensorflow/core/common_runtime/copy_tensor.h"
#include "tsl/platform/errors.h"
#include "tsl/platform/logging.h"

namespace hpu {

using tensorflow::AllocatorAttributes;
using tensorflow::Device;
using tensorflow::DeviceContext;
using tensorflow::Tensor;

namespace {

void CopyByReceiver(DeviceContext* send_context, DeviceContext* receive_context, Device* source, Device* destination,
                    const AllocatorAttributes source_attributes, const AllocatorAttributes destination_attributes,
                    const Tensor* input, Tensor* output, int stream_index, tensorflow::StatusCallback done) {
  receive_context->CopyTensorInSameDevice(input, destination, output, std::move(done));
}

}  // namespace

void RegisterCopiesInSameDevice(const char* device_type) {
  const tensorflow::DeviceType type(device_type);
  TF_CHECK_OK(tensorflow::CopyTensor::Register(type, type, CopyByReceiver, /*is_pluggable_device=*/true));
}

absl::Status CopyBetweenMemories(Device* device, DeviceContext* context, AllocatorAttributes from,
                                 AllocatorAttributes to, const Tensor& input, Tensor* output) {
  absl::Notification copied;
  absl::Status status;
  tensorflow::CopyTensor::ViaDMA("constant", context, context, device, device, from, to, &input, output,
                                 /*dev_to_dev_stream_index=*/0, [&](const absl::Status& outcome) {
                                   status = outcome;
                                   copied.Notify();
                                 });
  copied.WaitForNotification();
  return status;
}

}  // namespace hpu
