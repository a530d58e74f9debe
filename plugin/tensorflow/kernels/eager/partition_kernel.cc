// DynamicPartition kernel: the host sorts the row indices, and the device gathers the rows.
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/version/contact.h"
#include "plugin/tensorflow/device/hpu_device.h"
#include "plugin/tensorflow/device/process_device.h"
#include "plugin/tensorflow/kernels/eager/eager_kernel.h"
#include "plugin/tensorflow/kernels/launch/row_gather.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/util/util.h"

namespace hpu {
namespace {

using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::TensorShape;

// Gathers all rows in partition order with one GatherV2. The recipe does not depend on the partitions' sizes, so there
// is one recipe for each shape.
class PartitionKernel : public tensorflow::OpKernel {
 public:
  explicit PartitionKernel(tensorflow::OpKernelConstruction* construction)
      : OpKernel(construction), gather_(construction, construction->input_type(0)) {
    OP_REQUIRES_OK(construction, construction->GetAttr("num_partitions", &partitions_));
  }
  bool IsExpensive() override { return true; }

  void Compute(OpKernelContext* context) override { OP_REQUIRES_OK(context, Partition(context)); }

 private:
  // Number of rows in each partition. Fails with the CPU kernel's errors.
  absl::StatusOr<std::vector<int64_t>> Count(const Tensor& data, const Tensor& partitions) const {
    if (!tensorflow::TensorShapeUtils::StartsWith(data.shape(), partitions.shape())) {
      return absl::InvalidArgumentError(
          absl::StrCat("data.shape must start with partitions.shape, got data.shape = ", data.shape().DebugString(),
                       ", partitions.shape = ", partitions.shape().DebugString()));
    }
    std::vector<int64_t> counts(partitions_, 0);
    const auto of_row = partitions.flat<int32_t>();
    for (int64_t i = 0; i < of_row.size(); ++i) {
      if (of_row(i) < 0 || of_row(i) >= partitions_) {
        return absl::InvalidArgumentError(absl::StrCat("partitions",
                                                       tensorflow::SliceDebugString(partitions.shape(), i), " = ",
                                                       of_row(i), " is not in [0, ", partitions_, ")"));
      }
      ++counts[of_row(i)];
    }
    return counts;
  }

  // The row indices, sorted by partition.
  static Tensor Order(const Tensor& partitions, const std::vector<int64_t>& counts) {
    std::vector<int64_t> next(counts.size(), 0);
    for (size_t i = 1; i < counts.size(); ++i) next[i] = next[i - 1] + counts[i - 1];
    const auto of_row = partitions.flat<int32_t>();
    Tensor order(tensorflow::DT_INT32, {of_row.size()});
    const auto places = order.vec<int32_t>();
    for (int64_t i = 0; i < of_row.size(); ++i) places(next[of_row(i)]++) = static_cast<int32_t>(i);
    return order;
  }

  absl::Status Partition(OpKernelContext* context) {
    const Tensor& data = context->input(0);
    const Tensor& partitions = context->input(1);
    HPU_ASSIGN_OR_RETURN(const std::vector<int64_t> counts, Count(data, partitions));
    TensorShape shape({partitions.NumElements()});
    for (int i = partitions.dims(); i < data.dims(); ++i) shape.AddDim(data.dim_size(i));
    if (shape.num_elements() == 0) return SetOutputs(context, Tensor(data.dtype(), shape), counts);
    HPU_RETURN_IF_ERROR(RowGather::CheckRowCount(type_string(), shape.dim_size(0)));
    Tensor rows;
    if (!rows.CopyFrom(data, shape)) {
      return absl::InternalError(absl::StrCat("cannot reshape data from ", data.shape().DebugString(),
                                              " to rows of shape ", shape.DebugString(), "; " HPU_REPORT_BUG));
    }
    HPU_ASSIGN_OR_RETURN(const Tensor sorted, gather_.Run(context, rows, Order(partitions, counts)));
    return SetOutputs(context, sorted, counts);
  }

  // Each output is a slice of the sorted rows. A slice whose address is not a multiple of kDeviceAlignment is copied.
  absl::Status SetOutputs(OpKernelContext* context, const Tensor& sorted, const std::vector<int64_t>& counts) const {
    HPU_ASSIGN_OR_RETURN(ProcessDevice * device, ProcessDevice::Get());
    int64_t begin = 0;
    for (int i = 0; i < partitions_; ++i) {
      const Tensor part = sorted.Slice(begin, begin + counts[i]);
      begin += counts[i];
      if (AddressOf(part) % hal::kDeviceAlignment == 0) {
        context->set_output(i, part);
        continue;
      }
      Tensor* copy = nullptr;
      HPU_RETURN_IF_ERROR(context->allocate_output(i, part.shape(), &copy));
      HPU_RETURN_IF_ERROR(device->CopyOnDevice(AddressOf(part), AddressOf(*copy), part.TotalBytes()));
    }
    return absl::OkStatus();
  }

  const RowGather gather_;
  int partitions_ = 0;
};

REGISTER_KERNEL_BUILDER(
    Name("DynamicPartition").Device(kDeviceType).TypeConstraint("T", RowGather::Types()).HostMemory("partitions"),
    PartitionKernel);
// int32 data are in host memory, so the CPU kernel partitions int32 data.
REGISTER_KERNEL_BUILDER(Name("DynamicPartition")
                            .Device(kDeviceType)
                            .TypeConstraint<tensorflow::int32>("T")
                            .HostMemory("data")
                            .HostMemory("partitions")
                            .HostMemory("outputs"),
                        EagerKernel);

}  // namespace
}  // namespace hpu
