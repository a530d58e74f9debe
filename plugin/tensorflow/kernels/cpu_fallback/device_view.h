// DeviceView: device memory as tensors of CPU kernels, without copies.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_DEVICE_VIEW_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_DEVICE_VIEW_H_

#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/tensorflow/device/process_device.h"
#include "plugin/tensorflow/kernels/kernel_arguments.h"
#include "tensorflow/core/framework/tensor.h"

namespace hpu {

// Valid while no other work uses the tensors. Not thread safe.
class DeviceView {
 public:
  // Waits for the compute work queued so far, and for pending copies to the arguments' memory. nullopt if the host
  // cannot access the device's memory (hal::HostView).
  static absl::StatusOr<std::optional<DeviceView>> Open(ProcessDevice& device, const KernelArguments& arguments);

  // Like Open, for a device whose memory the host can access. Calls `use` when the work has ended, on this thread or on
  // a thread of the plugin.
  static void OpenLater(ProcessDevice& device, absl::Span<const tensorflow::Tensor> tensors,
                        std::function<void(absl::StatusOr<DeviceView>)> use);

  enum class Access {
    kRead,   // kernels write their results elsewhere
    kWrite,  // kernels may overwrite the data while nothing else refers to the returned tensor
  };
  // A tensor at the host address of an argument's data. It keeps the device tensor alive.
  tensorflow::Tensor Of(const tensorflow::Tensor& tensor, Access access) const;
  // Waits for the work that may still use what was in the memory of new tensors before.
  absl::Status WaitForEarlierUsers(const std::vector<tensorflow::Tensor>& tensors) const;
  // Copies host data to a device tensor of the same size.
  void Write(const tensorflow::Tensor& from, const tensorflow::Tensor& to) const;
  // Whether the tensor's data are in device memory, at their host address.
  bool Contains(const tensorflow::Tensor& tensor) const;

 private:
  DeviceView(ProcessDevice& device, const hal::HostView& view) : device_(&device), view_(&view) {}

  ProcessDevice* device_;
  const hal::HostView* view_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_DEVICE_VIEW_H_
