// Where kernel for bool (tf.where): the host computes the coordinates of the true flags.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/trace/trace.h"
#include "plugin/tensorflow/device/host_pool.h"
#include "plugin/tensorflow/device/hpu_device.h"
#include "plugin/tensorflow/device/process_device.h"
#include "plugin/tensorflow/kernels/eager/where_indices.h"
#include "plugin/tensorflow/kernels/op_counters.h"
#include "plugin/tensorflow/kernels/statistics.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {
namespace {

using tensorflow::OpKernelContext;
using tensorflow::Tensor;

// Stateless except for the number of its graph's report; thread safe.
class WhereKernel : public tensorflow::OpKernel {
 public:
  explicit WhereKernel(tensorflow::OpKernelConstruction* construction)
      : OpKernel(construction), record_(RecordOf(construction->def())) {}
  bool IsExpensive() override { return true; }

  void Compute(OpKernelContext* context) override { OP_REQUIRES_OK(context, Where(context)); }

 private:
  absl::Status Where(OpKernelContext* context) const {
    const Tensor& condition = context->input(0);
    const int rank = condition.dims();
    if (rank < 1 || rank > kMaxRank) {  // the CPU kernel's message
      return absl::InvalidArgumentError(absl::StrCat("WhereOp : Unhandled input dimensions: ", rank));
    }
    const trace::Scope traced(trace::Lane::kCpuFallback, name());
    HPU_ASSIGN_OR_RETURN(ProcessDevice * device, ProcessDevice::Get());
    HPU_ASSIGN_OR_RETURN(const Tensor flags, CopyToHost(context, *device, condition));
    const int64_t found = CountTrue(flags.data(), flags.NumElements());
    Tensor* output = nullptr;
    HPU_RETURN_IF_ERROR(context->allocate_output(0, {found, rank}, &output));
    HPU_RETURN_IF_ERROR(WriteCoordinates(context, *device, flags, *output));
    Count(flags.TotalBytes() + output->TotalBytes());
    return absl::OkStatus();
  }

  // Allocates host memory, if possible in the host pool.
  static absl::StatusOr<Tensor> AllocateOnHost(OpKernelContext* context, const Tensor& tensor) {
    tensorflow::AllocatorAttributes attributes;
    attributes.set_on_host(true);
    Tensor host;
    HPU_RETURN_IF_ERROR(context->allocate_temp(tensor.dtype(), tensor.shape(), &host, attributes));
    return host;
  }

  static absl::StatusOr<Tensor> CopyToHost(OpKernelContext* context, ProcessDevice& device, const Tensor& tensor) {
    HPU_ASSIGN_OR_RETURN(Tensor host, AllocateOnHost(context, tensor));
    HPU_RETURN_IF_ERROR(device.CopyToHostSync(AddressOf(tensor), static_cast<char*>(host.data()), tensor.TotalBytes()));
    return host;
  }

  static absl::Status WriteCoordinates(OpKernelContext* context, ProcessDevice& device, const Tensor& flags,
                                       const Tensor& output) {
    if (output.NumElements() == 0) return absl::OkStatus();
    std::shared_ptr<void> memory = device.host_pool().Allocate(output.TotalBytes());
    if (memory != nullptr) return WriteInParts(device, flags, output, std::move(memory));
    HPU_ASSIGN_OR_RETURN(Tensor coordinates, AllocateOnHost(context, output));
    WriteWhereIndices(flags.data(), flags.shape().dim_sizes(), 0, flags.NumElements(),
                      coordinates.flat<int64_t>().data());
    return device.CopyToDevice(coordinates.data(), AddressOf(output), output.TotalBytes());
  }

  // Writes through `memory`, an allocation of the host pool. Each part is copied while the next part is computed.
  static absl::Status WriteInParts(ProcessDevice& device, const Tensor& flags, const Tensor& output,
                                   std::shared_ptr<void> memory) {
    constexpr int64_t kFlags = 16384;
    constexpr uint64_t kCopiedBytes = 256 << 10;
    const auto sizes = flags.shape().dim_sizes();
    const int64_t count = flags.NumElements();
    auto* next = static_cast<int64_t*>(memory.get());
    uint64_t copied = 0;
    for (int64_t begin = 0; begin < count; begin += kFlags) {
      const int64_t end = std::min(begin + kFlags, count);
      next = WriteWhereIndices(flags.data(), sizes, begin, end, next);
      char* const source = static_cast<char*>(memory.get()) + copied;
      const uint64_t bytes = reinterpret_cast<char*>(next) - source;
      if (bytes < kCopiedBytes && (end < count || bytes == 0)) continue;
      HPU_RETURN_IF_ERROR(
          device.CopyToDeviceFromBounce(std::shared_ptr<void>(memory, source), AddressOf(output) + copied, bytes));
      copied += bytes;
    }
    return absl::OkStatus();
  }

  void Count(uint64_t bytes) const {
    EagerCounters& counters = Statistics::Get().eager();
    counters.host_runs.fetch_add(1, std::memory_order_relaxed);
    counters.host_bytes.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed);
    if (record_ > 0) OpCounters::Get().AddCpuRun(record_, name(), static_cast<int64_t>(bytes));
  }

  const int64_t record_;  // number of the graph's report; 0 if ops are not recorded
};

// For other types, Where runs on the CPU kernel.
REGISTER_KERNEL_BUILDER(Name("Where").Device(kDeviceType).TypeConstraint<bool>("T"), WhereKernel);

}  // namespace
}  // namespace hpu
