// Copies of variants between host and device that leave strings and maps in host memory. TensorFlow's copy functions
// copy every tensor of a variant, and its runtime refuses to copy strings.
#include <string>

#include "plugin/base/status_macros.h"
#include "tensorflow/core/framework/allocator.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/framework/variant.h"
#include "tensorflow/core/framework/variant_op_registry.h"
#include "tensorflow/core/kernels/data/optional_ops.h"
#include "tensorflow/core/kernels/ragged_tensor_variant.h"
#include "tensorflow/core/kernels/tensor_list.h"
#include "tensorflow/core/kernels/tensor_map.h"

namespace hpu {
namespace {

using tensorflow::Tensor;
using tensorflow::TypeIndex;
using tensorflow::UnaryVariantOpRegistry;
using tensorflow::Variant;
using CopyTensor = UnaryVariantOpRegistry::AsyncTensorDeviceCopyFn;
using CopyVariant = UnaryVariantOpRegistry::AsyncVariantDeviceCopyFn;
using Direction = tensorflow::VariantDeviceCopyDirection;

constexpr Direction kDirections[] = {Direction::HOST_TO_DEVICE, Direction::DEVICE_TO_HOST, Direction::DEVICE_TO_DEVICE};

absl::Status KeepVariant(const Variant& from, Variant* to, const CopyTensor&) {
  *to = from;
  return absl::OkStatus();
}

// Copies a tensor of a variant by `copy`, if its type can be in device memory.
absl::Status CopyElement(Direction direction, const Tensor& from, Tensor* to, const CopyTensor& copy) {
  if (from.dtype() == tensorflow::DT_VARIANT) {
    *to = Tensor(tensorflow::cpu_allocator(), tensorflow::DT_VARIANT, from.shape());
    for (int64_t i = 0; i < from.NumElements(); ++i) {
      HPU_RETURN_IF_ERROR(
          tensorflow::VariantDeviceCopy(direction, from.flat<Variant>()(i), &to->flat<Variant>()(i), copy));
    }
    return absl::OkStatus();
  }
  if (tensorflow::DataTypeCanUseMemcpy(from.dtype())) return copy(from, to);
  *to = from;
  return absl::OkStatus();
}

// Replaces the copy functions of a type, or registers them if there are none.
template <typename T, typename MakeCopy>
void SetCopies(const MakeCopy& make) {
  UnaryVariantOpRegistry* const registry = UnaryVariantOpRegistry::Global();
  for (const Direction direction : kDirections) {
    const TypeIndex type = TypeIndex::Make<T>();
    CopyVariant* const registered = registry->GetDeviceCopyFn(direction, type);
    if (registered != nullptr) {
      *registered = make(direction, *registered);
    } else {
      registry->RegisterDeviceCopyFn(direction, type, make(direction, KeepVariant));
    }
  }
}

// A copy by TensorFlow's function, which copies each tensor by CopyElement.
CopyVariant WithoutStrings(Direction direction, CopyVariant original) {
  return [direction, original](const Variant& from, Variant* to, const CopyTensor& copy) {
    return original(from, to, [direction, copy](const Tensor& element, Tensor* copied) {
      return CopyElement(direction, element, copied, copy);
    });
  };
}

[[maybe_unused]] const bool copies_are_set = [] {
  SetCopies<tensorflow::RaggedTensorVariant>(WithoutStrings);
  SetCopies<tensorflow::TensorList>(WithoutStrings);
  SetCopies<tensorflow::data::OptionalVariant>(WithoutStrings);
  // A map hashes its keys on the host. TensorFlow's copy function would hash a key after copying it to the device.
  SetCopies<tensorflow::TensorMap>([](Direction, const CopyVariant&) { return KeepVariant; });
  return true;
}();

}  // namespace
}  // namespace hpu
