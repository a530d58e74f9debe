// HabanaCheckValues: raises an error for values that failed a test, because compiled code cannot raise errors.
#include <string>

#include "absl/strings/str_cat.h"
#include "plugin/tensorflow/kernels/eager/check_kernel.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {
namespace {

class CheckValuesKernel : public CheckKernel {
 public:
  explicit CheckValuesKernel(tensorflow::OpKernelConstruction* construction) : CheckKernel(construction) {
    int64_t code = 0;
    std::string error, node;
    OP_REQUIRES_OK(construction, construction->GetAttr("code", &code));
    OP_REQUIRES_OK(construction, construction->GetAttr("error", &error));
    OP_REQUIRES_OK(construction, construction->GetAttr("node", &node));
    error_ = absl::Status(static_cast<absl::StatusCode>(code), absl::StrCat(error, " (", node, ")"));
  }

  bool IsExpensive() override { return false; }

 protected:
  void Check(tensorflow::OpKernelContext* context) const override {
    if (!context->input(0).scalar<bool>()()) context->SetStatus(error_);
  }

 private:
  absl::Status error_;
};

REGISTER_KERNEL_BUILDER(Name("HabanaCheckValues").Device(tensorflow::DEVICE_CPU), CheckValuesKernel);

}  // namespace
}  // namespace hpu
