#include "plugin/backends/emulator/kernels/tensorflow_kernel.h"

#include <cstring>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "plugin/backends/emulator/kernels/op_device.h"
#include "tensorflow/core/framework/allocation_description.pb.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/public/version.h"
#include "tensorflow/core/util/util.h"
#include "tsl/platform/errors.h"

namespace hpu::emulator {
namespace {

using tensorflow::Tensor;
using tensorflow::TensorShape;

// The recipe's memory, which the tensor does not own.
class BorrowedBuffer final : public tensorflow::TensorBuffer {
 public:
  BorrowedBuffer(void* data, size_t bytes) : TensorBuffer(data), bytes_(bytes) {}
  size_t size() const override { return bytes_; }
  TensorBuffer* root_buffer() override { return this; }
  bool OwnsMemory() const override { return false; }
  void FillAllocationDescription(tensorflow::AllocationDescription* description) const override {
    description->set_requested_bytes(bytes_);
  }

 private:
  const size_t bytes_;
};

Tensor Borrow(const void* data, tensorflow::DataType dtype, const TensorShape& shape) {
  const size_t bytes = shape.num_elements() * tensorflow::DataTypeSize(dtype);
  if (bytes == 0) return Tensor(dtype, shape);
  // TensorFlow's kernels end the process over memory less aligned than this, which XLA's constants may be.
  if (reinterpret_cast<uintptr_t>(data) % EIGEN_MAX_ALIGN_BYTES != 0) {
    Tensor copy(dtype, shape);
    std::memcpy(copy.data(), data, bytes);
    return copy;
  }
  return Tensor(
      dtype, shape,
      tensorflow::core::RefCountPtr<tensorflow::TensorBuffer>(new BorrowedBuffer(const_cast<void*>(data), bytes)));
}

bool HasKernel(const tensorflow::NodeDef& node) {
  return tensorflow::FindKernelDef(tensorflow::DeviceType(tensorflow::DEVICE_CPU), node, nullptr, nullptr).ok();
}

}  // namespace

TensorFlowKernel::Input TensorFlowKernel::Operand(int index, tensorflow::DataType dtype, std::vector<int64_t> dims) {
  return {index, dtype, TensorShape(dims), Tensor()};
}

TensorFlowKernel::Input TensorFlowKernel::Constant(const std::vector<int64_t>& values) {
  Input input;
  input.constant = Tensor(tensorflow::DT_INT32, TensorShape({static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) input.constant.vec<int32_t>()(i) = static_cast<int32_t>(values[i]);
  return input;
}

TensorFlowKernel::TensorFlowKernel(std::unique_ptr<tensorflow::OpKernel> op, std::vector<Input> inputs,
                                   tensorflow::DataType result_type, std::vector<int64_t> result_dims)
    : op_(std::move(op)),
      inputs_(std::move(inputs)),
      result_type_(result_type),
      result_shape_(result_dims),
      result_bytes_(result_shape_.num_elements() * tensorflow::DataTypeSize(result_type)) {}

absl::StatusOr<std::unique_ptr<const Kernel>> TensorFlowKernel::Make(tensorflow::NodeDef node,
                                                                     std::vector<Input> inputs,
                                                                     tensorflow::DataType result_type,
                                                                     std::vector<int64_t> result_dims) {
  static auto* device = new OpDevice(nullptr, nullptr);
  const tensorflow::OpDef* op = nullptr;
  TF_RETURN_IF_ERROR(tensorflow::OpRegistry::Global()->LookUpOpDef(node.op(), &op));
  tensorflow::AddDefaultsToNodeDef(*op, &node);
  node.set_name(node.op());
  for (size_t i = 0; i < inputs.size(); ++i) node.add_input(absl::StrCat("operand", i));
  tensorflow::Status status;
  std::unique_ptr<tensorflow::OpKernel> kernel =
      tensorflow::CreateOpKernel(tensorflow::DeviceType(tensorflow::DEVICE_CPU), device, tensorflow::cpu_allocator(),
                                 node, TF_GRAPH_DEF_VERSION, &status);
  TF_RETURN_IF_ERROR(status);
  return std::unique_ptr<const Kernel>(
      new TensorFlowKernel(std::move(kernel), std::move(inputs), result_type, std::move(result_dims)));
}

absl::Status TensorFlowKernel::Run(const KernelCall& call) const {
  absl::InlinedVector<Tensor, 4> tensors;
  absl::InlinedVector<tensorflow::TensorValue, 4> values;
  absl::InlinedVector<tensorflow::AllocatorAttributes, 4> input_attributes(inputs_.size());
  for (const Input& input : inputs_) {
    tensors.push_back(input.operand < 0 ? input.constant
                                        : Borrow(call.operands[input.operand], input.dtype, input.shape));
  }
  for (Tensor& tensor : tensors) values.emplace_back(&tensor);
  const tensorflow::AllocatorAttributes result_attributes = OpDevice::ResultAttributes(0);
  const OpDevice::Memory result{call.results[0], result_bytes_};
  const OpDevice::ResultScope scope({&result, 1});
  tensorflow::OpKernelContext::Params params;
  params.op_kernel = op_.get();
  params.device = call.pool.op_device();
  params.inputs = values;
  params.input_alloc_attrs = input_attributes;
  params.output_attr_array = &result_attributes;
  tensorflow::OpKernelContext context(&params, 1);
  op_->Compute(&context);
  TF_RETURN_IF_ERROR(context.status());
  const Tensor* made = context.mutable_output(0);
  if (made == nullptr || made->shape() != result_shape_ || made->dtype() != result_type_) {
    return absl::InternalError(absl::StrCat(op_->def().op(), " made ",
                                            made == nullptr ? "nothing" : made->shape().DebugString(), ", not ",
                                            result_shape_.DebugString()));
  }
  const char* data = made->tensor_data().data();
  if (result_bytes_ > 0 && data != result.data) std::memcpy(result.data, data, result_bytes_);
  return absl::OkStatus();
}

tensorflow::NodeDef NativeNode(const std::string& op, tensorflow::DataType dtype) {
  if (tensorflow::IsMKLEnabled()) {
    // What TensorFlow's own graph pass names them.
    for (const char* prefix : {"_MklNative", "_Mkl"}) {
      tensorflow::NodeDef node = PlainNode(absl::StrCat(prefix, op), dtype);
      (*node.mutable_attr())["_kernel"].set_s("MklNameChangeOp");
      if (HasKernel(node)) return node;
    }
  }
  return PlainNode(op, dtype);
}

tensorflow::NodeDef PlainNode(const std::string& op, tensorflow::DataType dtype) {
  tensorflow::NodeDef node;
  node.set_op(op);
  (*node.mutable_attr())["T"].set_type(dtype);
  return node;
}

}  // namespace hpu::emulator
