#include "plugin/recipes/signature.h"

#include <cstring>

#include "absl/strings/string_view.h"

namespace hpu::recipes {

void Signature::AddConstant(const tensorflow::Tensor& value) {
  AddArray(kConstant, value.dtype(), value.shape());
  const absl::string_view bytes = value.tensor_data();
  const size_t first = words_.size();
  words_.resize(first + (bytes.size() + sizeof(int64_t) - 1) / sizeof(int64_t), 0);
  if (!bytes.empty()) std::memcpy(words_.data() + first, bytes.data(), bytes.size());
}

}  // namespace hpu::recipes
