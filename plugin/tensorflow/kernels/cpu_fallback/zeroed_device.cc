#include "plugin/tensorflow/kernels/cpu_fallback/zeroed_device.h"

#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "plugin/op_facts/op_facts.h"
#include "tensorflow/core/framework/allocator.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"

namespace hpu {
namespace {

// Whether the thread runs a kernel whose memory must be zeroed. Kernels allocate their results on the thread that
// calls them.
thread_local bool zeroes_memory = false;

class ZeroMemory {
 public:
  explicit ZeroMemory(bool zeroes) : before_(std::exchange(zeroes_memory, zeroes)) {}
  ~ZeroMemory() { zeroes_memory = before_; }
  ZeroMemory(const ZeroMemory&) = delete;
  ZeroMemory& operator=(const ZeroMemory&) = delete;

 private:
  const bool before_;
};

// Runs for each op of a cluster. Comparing with a few names is faster than a search in the table of all ops.
bool IsUnwritten(std::string_view op) {
  static const auto* const ops = new std::vector<std::string_view>(OpsWith(&OpFacts::unwritten));
  return absl::c_linear_search(*ops, op);
}

bool MayLeaveMemoryUnwritten(const tensorflow::OpKernel& kernel, const tensorflow::OpKernelContext& context) {
  if (IsUnwritten(kernel.type_string_view())) return true;
  for (int i = 0; i < context.num_inputs(); ++i) {
    if (context.has_input(i) && !context.input_is_ref(i) && context.input(i).NumElements() == 0) return true;
  }
  return false;
}

class ZeroingAllocator final : public tensorflow::AllocatorWrapper {
 public:
  using AllocatorWrapper::AllocatorWrapper;

  void* AllocateRaw(size_t alignment, size_t bytes) override { return Zeroed(alignment, bytes, {}); }
  void* AllocateRaw(size_t alignment, size_t bytes, const tensorflow::AllocationAttributes& attributes) override {
    return Zeroed(alignment, bytes, attributes);
  }

 private:
  void* Zeroed(size_t alignment, size_t bytes, const tensorflow::AllocationAttributes& attributes) {
    void* const memory = wrapped()->AllocateRaw(alignment, bytes, attributes);
    if (zeroes_memory && memory != nullptr) std::memset(memory, 0, bytes);
    return memory;
  }
};

class ZeroedDevice final : public tensorflow::Device {
 public:
  explicit ZeroedDevice(std::unique_ptr<tensorflow::Device> cpu)
      : Device(cpu->env(), cpu->attributes()), cpu_(std::move(cpu)), allocator_(cpu_->GetAllocator({})) {}

  tensorflow::Allocator* GetAllocator(tensorflow::AllocatorAttributes) override { return &allocator_; }
  tensorflow::Allocator* GetScopedAllocator(tensorflow::AllocatorAttributes attributes, int64_t step) override {
    return cpu_->GetScopedAllocator(attributes, step);
  }
  tensorflow::ScopedAllocatorMgr* GetScopedAllocatorMgr() const override { return cpu_->GetScopedAllocatorMgr(); }

  const CpuWorkerThreads* tensorflow_cpu_worker_threads() const override {
    return cpu_->tensorflow_cpu_worker_threads();
  }
  bool has_eigen_cpu_device() const override { return cpu_->has_eigen_cpu_device(); }
  const Eigen::ThreadPoolDevice* eigen_cpu_device() override { return cpu_->eigen_cpu_device(); }
  tsl::thread::ThreadPool* tensorflow_device_thread_pool() override { return cpu_->tensorflow_device_thread_pool(); }
  tensorflow::DeviceBase* UnderlyingDevice() override { return cpu_->UnderlyingDevice(); }
  const tensorflow::DeviceBase* UnderlyingDevice() const override { return cpu_->UnderlyingDevice(); }

  void Compute(tensorflow::OpKernel* kernel, tensorflow::OpKernelContext* context) override {
    const ZeroMemory scope(MayLeaveMemoryUnwritten(*kernel, *context));
    cpu_->Compute(kernel, context);
  }
  void ComputeAsync(tensorflow::AsyncOpKernel* kernel, tensorflow::OpKernelContext* context,
                    tensorflow::AsyncOpKernel::DoneCallback done) override {
    const ZeroMemory scope(MayLeaveMemoryUnwritten(*kernel, *context));
    cpu_->ComputeAsync(kernel, context, std::move(done));
  }

  tensorflow::Status Sync() override { return cpu_->Sync(); }
  tensorflow::Status MakeTensorFromProto(const tensorflow::TensorProto& proto,
                                         const tensorflow::AllocatorAttributes attributes,
                                         tensorflow::Tensor* tensor) override {
    return cpu_->MakeTensorFromProto(proto, attributes, tensor);
  }
  void CopyTensorInSameDevice(const tensorflow::Tensor* from, tensorflow::Tensor* to,
                              const tensorflow::DeviceContext* context, tensorflow::StatusCallback done) override {
    cpu_->CopyTensorInSameDevice(from, to, context, std::move(done));
  }

 private:
  const std::unique_ptr<tensorflow::Device> cpu_;
  ZeroingAllocator allocator_;
};

}  // namespace

std::unique_ptr<tensorflow::Device> ZeroMemoryOf(std::unique_ptr<tensorflow::Device> cpu) {
  return std::make_unique<ZeroedDevice>(std::move(cpu));
}

}  // namespace hpu
