#include "plugin/tensorflow/kernels/host_copy.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace hpu {

absl::Status CopyToNewHostTensor(absl::string_view op, ProcessDevice& device, const tensorflow::Tensor& source,
                                 tensorflow::Tensor* destination, std::function<void(absl::Status)> arrived) {
  *destination = tensorflow::Tensor(device.host_allocator(), source.dtype(), source.shape());
  if (!destination->IsInitialized()) {
    return absl::ResourceExhaustedError(absl::StrCat(op, ": cannot allocate ", source.TotalBytes(),
                                                     " bytes of host memory for the input; free host memory, or pass "
                                                     "the input in smaller parts"));
  }
  device.CopyToHost(AddressOf(source), static_cast<char*>(destination->data()), source.TotalBytes(),
                    std::move(arrived));
  return absl::OkStatus();
}

}  // namespace hpu
