#include "plugin/tensorflow/kernels/cpu_fallback/device_view.h"

#include <cstring>
#include <utility>

#include "plugin/base/status_macros.h"
#include "plugin/tensorflow/device/host_results.h"

namespace hpu {
namespace {

using tensorflow::Tensor;

class ViewBuffer : public tensorflow::TensorBuffer {
 public:
  ViewBuffer(char* data, const Tensor& source, DeviceView::Access access)
      : TensorBuffer(data), source_(source), access_(access) {}

  size_t size() const override { return source_.TotalBytes(); }
  TensorBuffer* root_buffer() override { return this; }
  void FillAllocationDescription(tensorflow::AllocationDescription*) const override {}
  // Kernels overwrite only buffers that own their memory.
  bool OwnsMemory() const override { return access_ == DeviceView::Access::kWrite; }

 private:
  const Tensor source_;
  const DeviceView::Access access_;
};

// Makes the compute stream wait for pending copies to the tensor's memory.
absl::Status OrderAfterCopies(ProcessDevice& device, const Tensor& tensor) {
  if (tensor.TotalBytes() == 0 || !device.Owns(tensor.data())) return absl::OkStatus();
  return device.OrderAfterCopies(AddressOf(tensor), tensor.TotalBytes(), device.compute());
}

}  // namespace

absl::StatusOr<std::optional<DeviceView>> DeviceView::Open(ProcessDevice& device, const KernelArguments& arguments) {
  const hal::HostView* view = device.traits().host_view;
  if (view == nullptr) return std::optional<DeviceView>();
  for (int i = 0; i < arguments.size(); ++i) {
    HPU_RETURN_IF_ERROR(OrderAfterCopies(device, arguments.value(i)));
  }
  HPU_RETURN_IF_ERROR(WaitForHostResults(device));
  return std::optional<DeviceView>(DeviceView(device, *view));
}

void DeviceView::OpenLater(ProcessDevice& device, absl::Span<const Tensor> tensors,
                           std::function<void(absl::StatusOr<DeviceView>)> use) {
  for (const Tensor& tensor : tensors) {
    if (absl::Status ordered = OrderAfterCopies(device, tensor); !ordered.ok()) return use(std::move(ordered));
  }
  if (device.ComputeIsIdle()) return use(DeviceView(device, *device.traits().host_view));
  device.AfterCompute([&device, use = std::move(use)](absl::Status status) {
    if (!status.ok()) return use(std::move(status));
    use(DeviceView(device, *device.traits().host_view));
  });
}

Tensor DeviceView::Of(const Tensor& tensor, Access access) const {
  auto* buffer = new ViewBuffer(view_->HostAddressOf(AddressOf(tensor)), tensor, access);
  Tensor view(tensor.dtype(), tensor.shape(), buffer);
  buffer->Unref();
  return view;
}

absl::Status DeviceView::WaitForEarlierUsers(const std::vector<Tensor>& tensors) const {
  if (tensors.empty()) return absl::OkStatus();
  for (const Tensor& tensor : tensors) HPU_RETURN_IF_ERROR(OrderAfterCopies(*device_, tensor));
  return WaitForHostResults(*device_);
}

void DeviceView::Write(const Tensor& from, const Tensor& to) const {
  if (to.TotalBytes() == 0) return;
  std::memcpy(view_->HostAddressOf(AddressOf(to)), from.data(), to.TotalBytes());
}

bool DeviceView::Contains(const Tensor& tensor) const {
  if (tensor.TotalBytes() == 0) return false;
  const hal::DeviceAddress base = device_->memory().address();
  return reinterpret_cast<uintptr_t>(tensor.data()) - reinterpret_cast<uintptr_t>(view_->HostAddressOf(base)) <
         device_->memory().size();
}

}  // namespace hpu
