// HabanaCheckValues: raises an error for values that failed a test, because compiled code cannot raise errors.
#include <string>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {
namespace {

// Stateless except for its attributes; thread safe.
class CheckValuesKernel : public tensorflow::OpKernel {
 public:
  explicit CheckValuesKernel(tensorflow::OpKernelConstruction* construction) : OpKernel(construction) {
    int64_t code = 0;
    std::string error, node;
    OP_REQUIRES_OK(construction, construction->GetAttr("code", &code));
    OP_REQUIRES_OK(construction, construction->GetAttr("error", &error));
    OP_REQUIRES_OK(construction, construction->GetAttr("node", &node));
    error_ = absl::Status(static_cast<absl::StatusCode>(code), absl::StrCat(error, " (", node, ")"));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    if (!context->input(0).scalar<bool>()()) context->SetStatus(error_);
  }

  bool IsExpensive() override { return false; }

 private:
  absl::Status error_;
};

REGISTER_KERNEL_BUILDER(Name("HabanaCheckValues").Device(tensorflow::DEVICE_CPU), CheckValuesKernel);

}  // namespace
}  // namespace hpu
