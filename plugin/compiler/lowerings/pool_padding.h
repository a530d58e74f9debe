// Padding of the windows of max pooling: VALID, SAME or EXPLICIT.
#ifndef HPU_PLUGIN_COMPILER_LOWERINGS_POOL_PADDING_H_
#define HPU_PLUGIN_COMPILER_LOWERINGS_POOL_PADDING_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/util/padding.h"
#include "xla/hlo/builder/padding.h"

namespace hpu {

class PoolPadding {
 public:
  // Reads the attributes `padding` and `explicit_paddings`, which pooling_rules.h checks.
  absl::Status Initialize(tensorflow::OpKernelConstruction* construction) {
    const absl::Status status = construction->GetAttr("padding", &padding_);
    if (!status.ok() || padding_ != tensorflow::EXPLICIT) return status;
    return construction->GetAttr("explicit_paddings", &explicit_);
  }

  // Padding before and after each dimension of the images.
  std::vector<std::pair<int64_t, int64_t>> Of(absl::Span<const int64_t> images, absl::Span<const int64_t> sizes,
                                              absl::Span<const int64_t> strides) const {
    if (padding_ != tensorflow::EXPLICIT) {
      const bool is_valid = padding_ == tensorflow::VALID;
      return xla::MakePadding(images, sizes, strides, is_valid ? xla::Padding::kValid : xla::Padding::kSame);
    }
    std::vector<std::pair<int64_t, int64_t>> edges;
    for (size_t i = 0; i + 1 < explicit_.size(); i += 2) edges.emplace_back(explicit_[i], explicit_[i + 1]);
    return edges;
  }

 private:
  tensorflow::Padding padding_ = tensorflow::VALID;
  std::vector<int64_t> explicit_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_LOWERINGS_POOL_PADDING_H_
