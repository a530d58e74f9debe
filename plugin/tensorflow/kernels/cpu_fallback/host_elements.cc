#include "plugin/tensorflow/kernels/cpu_fallback/host_elements.h"

#include "absl/algorithm/container.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/framework/variant.h"
#include "tensorflow/core/kernels/data/optional_ops_util.h"
#include "tensorflow/core/kernels/tensor_list.h"

namespace hpu {
namespace {

using tensorflow::Tensor;
using tensorflow::Variant;

bool IsHostElement(const Tensor& element) {
  if (element.dtype() == tensorflow::DT_VARIANT) return HasHostElements(element);
  return element.dtype() != tensorflow::DT_INVALID && !tensorflow::DataTypeCanUseMemcpy(element.dtype());
}

bool HasHostElements(const Variant& variant) {
  if (const auto* list = variant.get<tensorflow::TensorList>()) return absl::c_any_of(list->tensors(), IsHostElement);
  if (const auto* optional = variant.get<tensorflow::data::OptionalVariant>()) {
    return optional->has_value() && absl::c_any_of(optional->get_values(), IsHostElement);
  }
  return false;
}

}  // namespace

bool HasHostElements(const Tensor& variants) {
  const auto values = variants.flat<Variant>();
  for (int64_t i = 0; i < values.size(); ++i) {
    if (HasHostElements(values(i))) return true;
  }
  return false;
}

}  // namespace hpu
