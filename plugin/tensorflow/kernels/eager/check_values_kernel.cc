// HabanaCheckValues: raises an error for values that failed a test, because compiled code cannot raise errors.
#include <string>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/tensorflow/device/hpu_device.h"
#include "plugin/tensorflow/kernels/eager/check_kernel.h"

namespace hpu {
namespace {

class ValuesCheck {
 public:
  absl::Status Initialize(tensorflow::OpKernelConstruction* construction) {
    int64_t code = 0;
    std::string error, node;
    HPU_RETURN_IF_ERROR(construction->GetAttr("code", &code));
    HPU_RETURN_IF_ERROR(construction->GetAttr("error", &error));
    HPU_RETURN_IF_ERROR(construction->GetAttr("node", &node));
    error_ = absl::Status(static_cast<absl::StatusCode>(code), absl::StrCat(error, " (", node, ")"));
    return absl::OkStatus();
  }

  absl::Status Run(absl::Span<const tensorflow::Tensor> inputs) const {
    return inputs[0].scalar<bool>()() ? absl::OkStatus() : error_;
  }

 private:
  absl::Status error_;
};

REGISTER_KERNEL_BUILDER(Name("HabanaCheckValues").Device(tensorflow::DEVICE_CPU), HostCheckKernel<ValuesCheck>);
REGISTER_KERNEL_BUILDER(Name("HabanaCheckValues").Device(kDeviceType), DeviceCheckKernel<ValuesCheck>);

}  // namespace
}  // namespace hpu
