#include "plugin/tensorflow/kernels/eager/tensor_list_kernel.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/tensorflow/device/hpu_device.h"
#include "tensorflow/core/framework/kernel_def_builder.h"
#include "tensorflow/core/framework/variant_encode_decode.h"

namespace hpu {

using tensorflow::DataType;
using tensorflow::OpKernelContext;
using tensorflow::PartialTensorShape;
using tensorflow::Tensor;
using tensorflow::TensorList;
using tensorflow::TensorShape;

TensorListKernel::TensorListKernel(tensorflow::OpKernelConstruction* construction) : OpKernel(construction) {
  OP_REQUIRES_OK(construction, construction->GetAttr("element_dtype", &element_dtype_));
}

void TensorListKernel::Compute(OpKernelContext* context) {
  absl::StatusOr<ElementMemory> memory = ElementMemory::Create(context, element_dtype_);
  OP_REQUIRES_OK(context, memory.status());
  OP_REQUIRES_OK(context, Run(context, *memory));
}

absl::Status TensorListKernel::InputList(OpKernelContext* context, const TensorList** list) const {
  HPU_RETURN_IF_ERROR(tensorflow::GetInputList(context, 0, list));
  if (element_dtype_ == (*list)->element_dtype) return absl::OkStatus();
  // TensorFlow's own text.
  return absl::InvalidArgumentError(absl::StrCat("Invalid data types; op elements ",
                                                 tensorflow::DataTypeString(element_dtype_), " but list elements ",
                                                 tensorflow::DataTypeString((*list)->element_dtype)));
}

absl::Status TensorListKernel::SetListOutput(OpKernelContext* context, TensorList list) {
  tensorflow::AllocatorAttributes host;
  host.set_on_host(true);
  Tensor* output = nullptr;
  HPU_RETURN_IF_ERROR(context->allocate_output(0, {}, &output, host));
  output->scalar<tensorflow::Variant>()() = std::move(list);
  return absl::OkStatus();
}

absl::Status TensorListKernel::SetElementOutput(OpKernelContext* context, const ElementMemory& memory, int index,
                                                const Tensor& element, const TensorShape& shape) {
  HPU_ASSIGN_OR_RETURN(const Tensor output, IsSet(element) ? memory.InPlace(element) : memory.Zeros(shape));
  context->set_output(index, output);
  return absl::OkStatus();
}

absl::Status TensorListKernel::AllocateElements(OpKernelContext* context, const TensorShape& shape,
                                                Tensor** output) const {
  tensorflow::AllocatorAttributes attributes = context->output_alloc_attr(0);
  if (!LivesOnDevice(element_dtype_)) attributes.set_on_host(true);
  return context->allocate_output(0, shape, output, attributes);
}

absl::Status TensorListKernel::MergeShapes(const std::vector<const Tensor*>& elements, PartialTensorShape* shape) {
  for (const Tensor* element : elements) {
    if (!IsSet(*element)) continue;
    const PartialTensorShape before = *shape;
    HPU_RETURN_IF_ERROR(before.MergeWith(element->shape(), shape));
  }
  return absl::OkStatus();
}

absl::Status TensorListKernel::Join(const ElementMemory& memory, const std::vector<const Tensor*>& elements,
                                    int64_t unset_elements_size, Tensor* output) {
  int64_t position = 0;
  for (const Tensor* element : elements) {
    const int64_t count = IsSet(*element) ? element->NumElements() : unset_elements_size;
    if (count > output->NumElements() - position) {
      return absl::InvalidArgumentError(
          absl::StrCat("The elements of the TensorList exceed the output shape ", output->shape().DebugString()));
    }
    HPU_RETURN_IF_ERROR(IsSet(*element) ? memory.Copy(*element, 0, output, position, count)
                                        : memory.Clear(output, position, count));
    position += count;
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensor> TensorListKernel::CopyRow(const ElementMemory& memory, const Tensor& tensor, int64_t row) {
  TensorShape shape = tensor.shape();
  shape.RemoveDim(0);
  HPU_ASSIGN_OR_RETURN(Tensor element, memory.Allocate(shape));
  const int64_t size = shape.num_elements();
  HPU_RETURN_IF_ERROR(memory.Copy(tensor, row * size, &element, 0, size));
  return element;
}

namespace {

void RegisterListKernel(const char* op, std::initializer_list<const char*> host_arguments, const char* element_argument,
                        const std::vector<DataType>& types,
                        tensorflow::OpKernel* (*create)(tensorflow::OpKernelConstruction*)) {
  tensorflow::KernelDefBuilder builder(op);
  builder.Device(kDeviceType).TypeConstraint("element_dtype", types);
  for (const char* argument : host_arguments) builder.HostMemory(argument);
  if (element_argument != nullptr) builder.HostMemory(element_argument);
  tensorflow::kernel_factory::OpKernelRegistrar(builder.Build(), "HpuTensorListKernel", create);
}

}  // namespace

bool RegisterTensorListKernel(const char* op, std::initializer_list<const char*> host_arguments,
                              const char* element_argument,
                              tensorflow::OpKernel* (*create)(tensorflow::OpKernelConstruction*)) {
  std::vector<DataType> device_types;
  for (DataType type : tensorflow::AllTypes()) {
    // Variants count as device memory, although TensorFlow keeps variants on the host. Lists of strings need no HPU
    // kernel, because TensorFlow places such lists on the CPU.
    if (LivesOnDevice(type) || type == tensorflow::DT_VARIANT) device_types.push_back(type);
  }
  RegisterListKernel(op, host_arguments, nullptr, device_types, create);
  RegisterListKernel(op, host_arguments, element_argument, {tensorflow::DT_INT32}, create);
  return true;
}

}  // namespace hpu
