#include "plugin/tensorflow/kernels/cpu_fallback/host_variants.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/base/status_macros.h"
#include "plugin/tensorflow/device/process_device.h"
#include "plugin/tensorflow/kernels/cpu_fallback/cpu_fallback.h"
#include "plugin/tensorflow/kernels/cpu_fallback/run_cpu_fallback.h"
#include "plugin/tensorflow/kernels/data_flow_memory.h"
#include "tensorflow/core/framework/node_def_builder.h"
#include "tensorflow/core/framework/variant_op_registry.h"
#include "tensorflow/core/public/version.h"

namespace hpu {
namespace {

using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::UnaryVariantOpRegistry;
using tensorflow::Variant;
using tensorflow::VariantDeviceCopyDirection;

// Copies the tensors in a variant: to host memory, or to the memory that their types require on the HPU.
class VariantCopy {
 public:
  VariantCopy(OpKernelContext* context, VariantDeviceCopyDirection direction)
      : context_(context), direction_(direction) {}

  absl::Status Copy(const Variant& from, Variant* to) const {
    // Tensors in a variant type without a copy function never leave host memory.
    if (UnaryVariantOpRegistry::Global()->GetDeviceCopyFn(direction_, from.TypeId()) == nullptr) {
      *to = from;
      return absl::OkStatus();
    }
    return tensorflow::VariantDeviceCopy(direction_, from, to, [this](const Tensor& source, Tensor* destination) {
      return CopyTensor(source, destination);
    });
  }

 private:
  absl::Status CopyTensor(const Tensor& from, Tensor* to) const {
    if (from.dtype() == tensorflow::DT_VARIANT) {
      *to = Tensor(tensorflow::cpu_allocator(), tensorflow::DT_VARIANT, from.shape());
      for (int64_t i = 0; i < from.NumElements(); ++i) {
        HPU_RETURN_IF_ERROR(Copy(from.flat<Variant>()(i), &to->flat<Variant>()(i)));
      }
      return absl::OkStatus();
    }
    if (direction_ == VariantDeviceCopyDirection::DEVICE_TO_HOST) {
      HPU_ASSIGN_OR_RETURN(ProcessDevice * device, ProcessDevice::Get());
      HPU_ASSIGN_OR_RETURN(*to, HostCopyOf(*device, from));
      return absl::OkStatus();
    }
    HPU_ASSIGN_OR_RETURN(const ElementMemory memory, ElementMemory::Create(context_, from.dtype()));
    HPU_ASSIGN_OR_RETURN(*to, memory.InPlace(from));
    return absl::OkStatus();
  }

  OpKernelContext* const context_;
  const VariantDeviceCopyDirection direction_;
};

absl::StatusOr<std::unique_ptr<CpuFallback>> MakeVariantFallback(size_t inputs) {
  tensorflow::NodeDef node;
  if (inputs == 1) {
    HPU_RETURN_IF_ERROR(
        tensorflow::NodeDefBuilder("zeros_like", "ZerosLike").Input("x", 0, tensorflow::DT_VARIANT).Finalize(&node));
  } else {
    const std::vector<tensorflow::NodeDefBuilder::NodeOut> sources(inputs, {"x", 0, tensorflow::DT_VARIANT});
    HPU_RETURN_IF_ERROR(tensorflow::NodeDefBuilder("add_n", "AddN").Input(sources).Finalize(&node));
  }
  return MakeKernelFallback(node, TF_GRAPH_DEF_VERSION);
}

}  // namespace

absl::Status ComputeVariantOnHost(OpKernelContext* context, absl::Span<const Variant* const> inputs, Variant* output) {
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<CpuFallback> program, MakeVariantFallback(inputs.size()));
  const VariantCopy to_host(context, VariantDeviceCopyDirection::DEVICE_TO_HOST);
  std::vector<Tensor> copies;
  for (const Variant* input : inputs) {
    Tensor& copy = copies.emplace_back(tensorflow::DT_VARIANT, tensorflow::TensorShape());
    HPU_RETURN_IF_ERROR(to_host.Copy(*input, &copy.scalar<Variant>()()));
  }
  std::vector<Tensor> results;
  HPU_RETURN_IF_ERROR(program->Run(context, std::move(copies), &results));
  return VariantCopy(context, VariantDeviceCopyDirection::HOST_TO_DEVICE).Copy(results[0].scalar<Variant>()(), output);
}

}  // namespace hpu
