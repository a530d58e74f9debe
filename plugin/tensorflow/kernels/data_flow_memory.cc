#include "plugin/tensorflow/kernels/data_flow_memory.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "tensorflow/core/framework/variant.h"

namespace hpu {
namespace {

using tensorflow::DataType;
using tensorflow::Tensor;
using tensorflow::Variant;

absl::Status NoSuchElements(const tensorflow::OpKernelContext& context, DataType dtype) {
  return absl::UnimplementedError(
      absl::StrCat(context.op_kernel().type_string(), ": elements of type ", tensorflow::DataTypeString(dtype),
                   " are not supported on the HPU; place the op on the CPU with tf.device(\"CPU\")"));
}

}  // namespace

bool LivesOnDevice(DataType dtype) { return dtype != tensorflow::DT_INT32 && tensorflow::DataTypeCanUseMemcpy(dtype); }

absl::StatusOr<ElementMemory> ElementMemory::Create(tensorflow::OpKernelContext* context, DataType dtype) {
  HPU_ASSIGN_OR_RETURN(ProcessDevice * device, ProcessDevice::Get());
  return ElementMemory(context, device, dtype);
}

absl::StatusOr<Tensor> ElementMemory::Allocate(const tensorflow::TensorShape& shape) const {
  tensorflow::AllocatorAttributes attributes;
  attributes.set_on_host(!LivesOnDevice(dtype_));
  Tensor tensor;
  HPU_RETURN_IF_ERROR(context_->allocate_temp(dtype_, shape, &tensor, attributes));
  return tensor;
}

absl::StatusOr<Tensor> ElementMemory::Zeros(const tensorflow::TensorShape& shape) const {
  HPU_ASSIGN_OR_RETURN(Tensor tensor, Allocate(shape));
  HPU_RETURN_IF_ERROR(Clear(&tensor, 0, tensor.NumElements()));
  return tensor;
}

absl::Status ElementMemory::Copy(const Tensor& source, int64_t from, Tensor* destination, int64_t to,
                                 int64_t count) const {
  if (count == 0) return absl::OkStatus();
  if (tensorflow::DataTypeCanUseMemcpy(dtype_)) {
    const uint64_t size = tensorflow::DataTypeSize(dtype_);
    return CopyBytes(static_cast<const char*>(source.data()) + from * size,
                     static_cast<char*>(destination->data()) + to * size, count * size);
  }
  if (dtype_ != tensorflow::DT_VARIANT) return NoSuchElements(*context_, dtype_);
  std::copy_n(source.unaligned_flat<Variant>().data() + from, count,
              destination->unaligned_flat<Variant>().data() + to);
  return absl::OkStatus();
}

absl::Status ElementMemory::CopyBytes(const char* source, char* destination, uint64_t bytes) const {
  const bool from_device = device_->Owns(source), to_device = device_->Owns(destination);
  const auto address = [](const char* pointer) { return reinterpret_cast<hal::DeviceAddress>(pointer); };
  if (from_device && to_device) return device_->CopyOnDevice(address(source), address(destination), bytes);
  if (from_device) return device_->CopyToHostSync(address(source), destination, bytes);
  if (to_device) return device_->CopyToDevice(source, address(destination), bytes);
  std::memcpy(destination, source, bytes);
  return absl::OkStatus();
}

absl::Status ElementMemory::Clear(Tensor* tensor, int64_t from, int64_t count) const {
  if (count == 0) return absl::OkStatus();
  if (tensorflow::DataTypeCanUseMemcpy(dtype_)) {
    const uint64_t size = tensorflow::DataTypeSize(dtype_);
    char* const begin = static_cast<char*>(tensor->data()) + from * size;
    if (device_->Owns(begin)) {
      return device_->compute().Fill(reinterpret_cast<hal::DeviceAddress>(begin), 0, count * size);
    }
    std::memset(begin, 0, count * size);
    return absl::OkStatus();
  }
  if (dtype_ != tensorflow::DT_VARIANT) return NoSuchElements(*context_, dtype_);
  std::fill_n(tensor->unaligned_flat<Variant>().data() + from, count, Variant());
  return absl::OkStatus();
}

bool ElementMemory::OnDevice(const Tensor& tensor) const { return device_->Owns(tensor.data()); }

absl::StatusOr<Tensor> ElementMemory::InPlace(const Tensor& tensor) const {
  if (!tensorflow::DataTypeCanUseMemcpy(dtype_) || tensor.TotalBytes() == 0) return tensor;
  if (OnDevice(tensor) == LivesOnDevice(dtype_)) return tensor;
  HPU_ASSIGN_OR_RETURN(Tensor copy, Allocate(tensor.shape()));
  HPU_RETURN_IF_ERROR(Copy(tensor, 0, &copy, 0, tensor.NumElements()));
  return copy;
}

}  // namespace hpu
