#include "plugin/compat/eager_ops.h"

#include <algorithm>
#include <memory>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "tensorflow/core/common_runtime/eager/context.h"
#include "tensorflow/core/common_runtime/eager/eager_op_rewrite_registry.h"
#include "tensorflow/core/common_runtime/eager/eager_operation.h"
#include "tensorflow/core/common_runtime/eager/tensor_handle.h"

namespace hpu {

using tensorflow::EagerOperation;
using tensorflow::EagerOpRewriteRegistry;
using tensorflow::TensorHandle;

namespace {

class EagerRewrite : public tensorflow::EagerOpRewrite {
 public:
  EagerRewrite(const char* name, void (*rewrite)(EagerOp* op))
      : EagerOpRewrite(name, __FILE__, std::to_string(__LINE__)), rewrite_(rewrite) {}

  tensorflow::Status Run(EagerOperation* op, std::unique_ptr<EagerOperation>* replaced) override {
    EagerOp borrowed(op);
    rewrite_(&borrowed);
    return absl::OkStatus();
  }

 private:
  void (*const rewrite_)(EagerOp* op);
};

}  // namespace

const std::string& EagerOp::name() const { return op_->Name(); }

bool EagerOp::is_function() const { return op_->is_function(); }

absl::string_view EagerOp::device_type() const {
  const auto& device = op_->GetDeviceParsedName();
  return device.has_type ? absl::string_view(device.type) : absl::string_view();
}

const tensorflow::NodeDef& EagerOp::node() const { return op_->MutableAttrs()->BuildNodeDef(); }

int EagerOp::MaxInputRank() const {
  int largest = 0;
  for (const tensorflow::ImmediateExecutionTensorHandle* input : op_->GetInputs()) {
    int rank = 0;
    if (input->NumDims(&rank).ok()) largest = std::max(largest, rank);
  }
  return largest;
}

bool EagerOp::HasOnlyInt32Inputs() const {
  return absl::c_all_of(op_->GetInputs(), [](const tensorflow::ImmediateExecutionTensorHandle* input) {
    return input->DataType() == tensorflow::DT_INT32;
  });
}

std::vector<const tensorflow::Tensor*> EagerOp::HostVariants() const {
  std::vector<const tensorflow::Tensor*> variants;
  for (tensorflow::ImmediateExecutionTensorHandle* input : op_->GetInputs()) {
    if (input->DataType() != tensorflow::DT_VARIANT) continue;
    const TensorHandle* handle = tensorflow::TensorHandleFromInterface(input);
    const tensorflow::EagerContext& eager = op_->EagerContext();
    if (handle->Type() != TensorHandle::LOCAL || handle->DeviceOrHostCPU(eager) != eager.HostCPU()) continue;
    const tensorflow::Tensor* tensor = nullptr;
    if (handle->Tensor(&tensor).ok()) variants.push_back(tensor);
  }
  return variants;
}

void EagerOp::PlaceOnCpu() { op_->SetDevice(op_->EagerContext().HostCPU()); }

void RegisterEagerRewrite(const char* name, void (*rewrite)(EagerOp* op)) {
  constexpr int kOrdinal = 20000;  // after TensorFlow's own rewrites
  EagerOpRewriteRegistry::Global()->Register(EagerOpRewriteRegistry::PRE_EXECUTION, kOrdinal,
                                             std::make_unique<EagerRewrite>(name, rewrite));
}

}  // namespace hpu
