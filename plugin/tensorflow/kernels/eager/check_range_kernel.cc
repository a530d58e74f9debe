// HabanaCheckRange: checks the range of random integers on the host, because compiled code cannot raise errors.
#include <string>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_payloads.h"
#include "plugin/checks/draw_range.h"
#include "plugin/tensorflow/kernels/eager/check_kernel.h"

namespace hpu {
namespace {

class RangeCheck {
 public:
  absl::Status Initialize(tensorflow::OpKernelConstruction* construction) {
    return construction->GetAttr("node", &node_);
  }

  absl::Status Run(absl::Span<const tensorflow::Tensor> inputs) const {
    if (!checks::HasElements(inputs[2])) return absl::OkStatus();
    const absl::Status status = checks::CheckDrawRange(inputs[0], inputs[1]);
    return status.ok() ? status : Reworded(status, absl::StrCat(status.message(), " (", node_, ")"));
  }

 private:
  std::string node_;
};

REGISTER_KERNEL_BUILDER(Name("HabanaCheckRange").Device(tensorflow::DEVICE_CPU), HostCheckKernel<RangeCheck>);

}  // namespace
}  // namespace hpu
