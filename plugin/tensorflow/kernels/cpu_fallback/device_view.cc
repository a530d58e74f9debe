#include "plugin/tensorflow/kernels/cpu_fallback/device_view.h"

#include <utility>

#include "plugin/tensorflow/device/host_results.h"
#include "tsl/platform/errors.h"

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

}  // namespace

absl::StatusOr<std::optional<DeviceView>> DeviceView::Open(ProcessDevice& device, const KernelArguments& arguments) {
  const hal::HostView* view = device.traits().host_view;
  if (view == nullptr) return std::optional<DeviceView>();
  for (int i = 0; i < arguments.size(); ++i) {
    const Tensor& value = arguments.value(i);
    if (value.TotalBytes() == 0 || !device.Owns(value.tensor_data().data())) continue;
    TF_RETURN_IF_ERROR(device.OrderAfterCopies(AddressOf(value), value.TotalBytes(), device.compute()));
  }
  TF_RETURN_IF_ERROR(WaitForHostResults(device));
  return std::optional<DeviceView>(DeviceView(device, *view));
}

Tensor DeviceView::Of(const Tensor& tensor, Access access) const {
  auto* buffer = new ViewBuffer(view_->HostAddressOf(AddressOf(tensor)), tensor, access);
  Tensor view(tensor.dtype(), tensor.shape(), buffer);
  buffer->Unref();
  return view;
}

bool DeviceView::Contains(const Tensor& tensor) const {
  if (tensor.TotalBytes() == 0) return false;
  const hal::DeviceAddress base = device_->memory().address();
  return reinterpret_cast<uintptr_t>(tensor.tensor_data().data()) -
             reinterpret_cast<uintptr_t>(view_->HostAddressOf(base)) <
         device_->memory().size();
}

}  // namespace hpu
