// HabanaAssert on the CPU: an assertion in a cluster that does not run on the device.
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {
namespace {

class AssertKernel : public tensorflow::OpKernel {
 public:
  explicit AssertKernel(tensorflow::OpKernelConstruction* construction) : OpKernel(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("texts", &texts_));
    OP_REQUIRES_OK(construction, construction->GetAttr("inputs", &inputs_));
    OP_REQUIRES_OK(construction, construction->GetAttr("summarize", &summarize_));
    OP_REQUIRES(construction, texts_.size() == inputs_.size(),
                absl::InvalidArgumentError("texts and inputs must have one element for each item"));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    if (context->input(0).scalar<bool>()()) return;
    // The text of TensorFlow's CPU kernel.
    std::string message = "assertion failed: ";
    for (size_t i = 0; i < texts_.size(); ++i) {
      const std::string item = inputs_[i] < 0 ? texts_[i] : context->input(1 + inputs_[i]).SummarizeValue(summarize_);
      absl::StrAppend(&message, i == 0 ? "[" : " [", item, "]");
    }
    context->SetStatus(absl::InvalidArgumentError(message));
  }
  bool IsExpensive() override { return false; }

 private:
  std::vector<std::string> texts_;
  std::vector<int> inputs_;
  int summarize_ = 0;
};

REGISTER_KERNEL_BUILDER(Name("HabanaAssert").Device(tensorflow::DEVICE_CPU), AssertKernel);

}  // namespace
}  // namespace hpu
