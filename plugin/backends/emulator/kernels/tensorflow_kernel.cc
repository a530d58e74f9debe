#include "plugin/backends/emulator/kernels/tensorflow_kernel.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "plugin/backends/emulator/kernels/one_dnn.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/version/contact.h"
#include "tensorflow/core/framework/allocation_description.pb.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/public/version.h"

namespace hpu::emulator {
namespace {

using tensorflow::Tensor;
using tensorflow::TensorShape;

// Largest number of elements whose bytes can be counted for every type.
constexpr int64_t kMaxElements = int64_t{1} << 58;

// Buffer of a tensor that borrows the recipe's memory.
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
  // Copies unaligned operands, such as XLA's constants: TensorFlow's kernels require EIGEN_MAX_ALIGN_BYTES and would
  // crash.
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
  return tensorflow::KernelDefAvailable(tensorflow::DeviceType(tensorflow::DEVICE_CPU), node);
}

}  // namespace

TensorFlowKernel::Input TensorFlowKernel::Operand(int index, tensorflow::DataType dtype, std::vector<int64_t> dims) {
  return {index, dtype, std::move(dims), Tensor()};
}

TensorFlowKernel::Input TensorFlowKernel::Constant(const std::vector<int64_t>& values) {
  Input input;
  input.constant = Tensor(tensorflow::DT_INT32, TensorShape({static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) input.constant.vec<int32_t>()(i) = static_cast<int32_t>(values[i]);
  return input;
}

TensorFlowKernel::Input TensorFlowKernel::ConstantScalar(int32_t value) {
  Input input;
  input.constant = Tensor(value);
  return input;
}

absl::StatusOr<TensorFlowKernel::Array> TensorFlowKernel::Checked(tensorflow::DataType dtype,
                                                                  const std::vector<int64_t>& dims) {
  Array array{dtype, {}};
  HPU_RETURN_IF_ERROR(TensorShape::BuildTensorShape(dims, &array.shape));
  if (array.shape.num_elements() > kMaxElements) {
    return absl::InvalidArgumentError(
        absl::StrCat("an array of shape ", array.shape.DebugString(), " has more than ", kMaxElements, " elements"));
  }
  return array;
}

absl::Status TensorFlowKernel::TakeResult(const tensorflow::OpKernel& op, const Tensor* made, const Array& result,
                                          const OpDevice::Memory& memory) {
  if (made == nullptr || made->shape() != result.shape || made->dtype() != result.dtype) {
    return absl::InternalError(absl::StrCat(
        op.def().op(), " returned ",
        made == nullptr ? "no output"
                        : absl::StrCat(tensorflow::DataTypeString(made->dtype()), " ", made->shape().DebugString()),
        ", expected ", tensorflow::DataTypeString(result.dtype), " ", result.shape.DebugString(), "; " HPU_REPORT_BUG));
  }
  const void* data = made->data();
  if (memory.bytes > 0 && data != memory.data) std::memcpy(memory.data, data, memory.bytes);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<const Kernel>> TensorFlowKernel::Make(tensorflow::NodeDef node,
                                                                     std::vector<Input> inputs,
                                                                     tensorflow::DataType result_type,
                                                                     std::vector<int64_t> result_dims) {
  return Make(std::move(node), std::move(inputs), {Result{result_type, std::move(result_dims)}});
}

absl::StatusOr<std::unique_ptr<const Kernel>> TensorFlowKernel::Make(tensorflow::NodeDef node,
                                                                     std::vector<Input> inputs,
                                                                     std::vector<Result> results) {
  static auto* device = new OpDevice(nullptr, nullptr);
  const tensorflow::OpDef* op = nullptr;
  HPU_RETURN_IF_ERROR(tensorflow::OpRegistry::Global()->LookUpOpDef(node.op(), &op));
  tensorflow::AddDefaultsToNodeDef(*op, &node);
  node.set_name(node.op());
  for (size_t i = 0; i < inputs.size(); ++i) node.add_input(absl::StrCat("operand", i));
  tensorflow::Status status;
  std::unique_ptr<tensorflow::OpKernel> kernel =
      tensorflow::CreateOpKernel(tensorflow::DeviceType(tensorflow::DEVICE_CPU), device, tensorflow::cpu_allocator(),
                                 node, TF_GRAPH_DEF_VERSION, &status);
  HPU_RETURN_IF_ERROR(status);
  if (results.size() > static_cast<size_t>(std::min(kernel->num_outputs(), OpDevice::kMaxResults))) {
    return absl::InvalidArgumentError(absl::StrCat("op ", node.op(), " has ", kernel->num_outputs(),
                                                   " outputs, expected at least ", results.size(),
                                                   "; a kernel can return at most ", OpDevice::kMaxResults));
  }
  std::vector<CheckedInput> checked_inputs;
  for (Input& input : inputs) {
    HPU_ASSIGN_OR_RETURN(Array array, Checked(input.dtype, input.dims));
    checked_inputs.push_back({input.operand, std::move(array), std::move(input.constant)});
  }
  std::vector<Array> arrays;
  for (const Result& result : results) {
    HPU_ASSIGN_OR_RETURN(Array array, Checked(result.dtype, result.dims));
    arrays.push_back(std::move(array));
  }
  return std::unique_ptr<const Kernel>(
      new TensorFlowKernel(std::move(kernel), std::move(checked_inputs), std::move(arrays)));
}

absl::Status TensorFlowKernel::Run(const KernelCall& call) const {
  absl::InlinedVector<Tensor, 4> tensors;
  absl::InlinedVector<tensorflow::TensorValue, 4> values;
  absl::InlinedVector<tensorflow::AllocatorAttributes, 4> input_attributes(inputs_.size());
  for (const CheckedInput& input : inputs_) {
    tensors.push_back(input.operand < 0 ? input.constant
                                        : Borrow(call.operands[input.operand], input.array.dtype, input.array.shape));
  }
  for (Tensor& tensor : tensors) values.emplace_back(&tensor);
  absl::InlinedVector<tensorflow::AllocatorAttributes, 4> result_attributes(op_->num_outputs());
  absl::InlinedVector<OpDevice::Memory, 4> memory;
  for (size_t i = 0; i < results_.size(); ++i) {
    result_attributes[i] = OpDevice::ResultAttributes(static_cast<int>(i));
    memory.push_back({call.results[i], results_[i].bytes()});
  }
  const OpDevice::ResultScope scope(memory);
  tensorflow::OpKernelContext::Params params;
  params.op_kernel = op_.get();
  params.device = call.pool.op_device();
  params.inputs = values;
  params.input_alloc_attrs = input_attributes;
  params.output_attr_array = result_attributes.data();
  tensorflow::OpKernelContext context(&params, op_->num_outputs());
  op_->Compute(&context);
  HPU_RETURN_IF_ERROR(context.status());
  for (size_t i = 0; i < results_.size(); ++i) {
    HPU_RETURN_IF_ERROR(TakeResult(*op_, context.mutable_output(static_cast<int>(i)), results_[i], memory[i]));
  }
  return absl::OkStatus();
}

tensorflow::NodeDef NativeNode(const std::string& op, tensorflow::DataType dtype) {
  if (IsOneDnnOn()) {
    // Prefixes with which TensorFlow's graph pass renames an op to its oneDNN op.
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
