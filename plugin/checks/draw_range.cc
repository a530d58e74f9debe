#include "plugin/checks/draw_range.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/types.h"

namespace hpu::checks {
namespace {

using tensorflow::Tensor;

template <typename Size>
bool HasNoZero(const Tensor& shape) {
  const auto sizes = shape.flat<Size>();
  for (int64_t i = 0; i < sizes.size(); ++i) {
    if (sizes(i) == 0) return false;
  }
  return true;
}

template <typename T>
absl::Status CheckEnds(const Tensor& low, const Tensor& high) {
  const T first = low.flat<T>()(0), end = high.flat<T>()(0);
  if (first < end) return absl::OkStatus();
  // The text of StatelessRandomUniformIntV2's CPU kernel.
  return absl::InvalidArgumentError(absl::StrCat("Need minval < maxval, got ", first, " >= ", end));
}

}  // namespace

bool HasElements(const Tensor& shape) {
  return shape.dtype() == tensorflow::DT_INT64 ? HasNoZero<int64_t>(shape) : HasNoZero<int32_t>(shape);
}

absl::Status CheckDrawRange(const Tensor& low, const Tensor& high) {
  if (low.NumElements() != 1 || high.NumElements() != 1) return absl::OkStatus();
  switch (low.dtype()) {
    case tensorflow::DT_INT32:
      return CheckEnds<int32_t>(low, high);
    case tensorflow::DT_UINT32:
      return CheckEnds<uint32_t>(low, high);
    case tensorflow::DT_UINT64:
      return CheckEnds<uint64_t>(low, high);
    default:
      return CheckEnds<int64_t>(low, high);
  }
}

}  // namespace hpu::checks
