#include "plugin/tensorflow/kernels/eager/check_kernel.h"

#include <atomic>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "plugin/tensorflow/kernels/cpu_fallback/device_view.h"
#include "plugin/tensorflow/kernels/host_copy.h"

namespace hpu {
namespace {

using tensorflow::Tensor;
using Use = std::function<void(absl::StatusOr<std::vector<Tensor>>)>;

bool IsInDeviceMemory(ProcessDevice& device, const Tensor& tensor) {
  return tensor.TotalBytes() > 0 && device.Owns(tensor.data());
}

// Copies of a kernel's inputs. Thread safe.
class InputCopies : public std::enable_shared_from_this<InputCopies> {
 public:
  InputCopies(std::vector<Tensor> inputs, Use use)
      : inputs_(std::move(inputs)), use_(std::move(use)), waiting_(inputs_.size() + 1) {}

  void Start(absl::string_view op, ProcessDevice& device) {
    for (Tensor& input : inputs_) {
      const Tensor source = input;
      if (!IsInDeviceMemory(device, source)) {
        Arrived(absl::OkStatus());
        continue;
      }
      absl::Status queued = CopyToNewHostTensor(
          op, device, source, &input,
          [copies = shared_from_this()](absl::Status status) { copies->Arrived(std::move(status)); });
      if (!queued.ok()) Arrived(std::move(queued));
    }
    Arrived(absl::OkStatus());
  }

 private:
  // Called once for each input and once by Start.
  void Arrived(absl::Status status) {
    absl::Status first;
    {
      absl::MutexLock lock(&mutex_);
      status_.Update(status);
      first = status_;
    }
    if (waiting_.fetch_sub(1) > 1) return;
    if (!first.ok()) return use_(std::move(first));
    use_(std::move(inputs_));
  }

  std::vector<Tensor> inputs_;
  const Use use_;
  std::atomic<size_t> waiting_;
  absl::Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

bool ChecksValues() {
  ProcessDevice* const device = ProcessDevice::GetIfAcquired();
  if (device == nullptr) return true;
  const hal::DeviceInfo& info = device->hal().info();
  return info.is_present && info.backend != "null";
}

void WithInputsOnHost(tensorflow::OpKernelContext* context, ProcessDevice& device, Use use) {
  std::vector<Tensor> inputs;
  for (int i = 0; i < context->num_inputs(); ++i) inputs.push_back(context->input(i));
  if (device.traits().host_view == nullptr) {
    std::make_shared<InputCopies>(std::move(inputs), std::move(use))->Start(context->op_kernel().name(), device);
    return;
  }
  // The kernel's context keeps the inputs until `use` has run.
  DeviceView::OpenLater(device, inputs, [&device, inputs, use = std::move(use)](absl::StatusOr<DeviceView> view) {
    if (!view.ok()) return use(view.status());
    std::vector<Tensor> on_host = inputs;
    for (Tensor& input : on_host) {
      if (IsInDeviceMemory(device, input)) input = view->Of(input, DeviceView::Access::kRead);
    }
    use(std::move(on_host));
  });
}

}  // namespace hpu
