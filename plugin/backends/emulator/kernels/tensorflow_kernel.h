// TensorFlowKernel: adapter that runs one of TensorFlow's CPU kernels as a Kernel.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_TENSORFLOW_KERNEL_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_TENSORFLOW_KERNEL_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/backends/emulator/kernels/kernel.h"
#include "plugin/backends/emulator/threads/op_device.h"
#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"

namespace hpu::emulator {

class TensorFlowKernel final : public Kernel {
 public:
  // An input of the op: the call's operand number `operand`, reshaped to `dims`, or a constant.
  struct Input {
    int operand = -1;
    tensorflow::DataType dtype = tensorflow::DT_INVALID;
    std::vector<int64_t> dims;
    tensorflow::Tensor constant;  // used if operand < 0
  };
  static Input Operand(int index, tensorflow::DataType dtype, std::vector<int64_t> dims);
  // A constant int32 vector, for example a shape.
  static Input Constant(const std::vector<int64_t>& values);
  static Input ConstantScalar(int32_t value);
  // An output of the op that the kernel returns.
  struct Result {
    tensorflow::DataType dtype = tensorflow::DT_INVALID;
    std::vector<int64_t> dims;
  };

  // `node` names the op and holds the attributes that differ from the defaults. Fails with TensorFlow's error if
  // TensorFlow has no kernel for the node, and with InvalidArgument for shapes with negative sizes or more than 2^58
  // elements.
  static absl::StatusOr<std::unique_ptr<const Kernel>> Make(tensorflow::NodeDef node, std::vector<Input> inputs,
                                                            tensorflow::DataType result_type,
                                                            std::vector<int64_t> result_dims);
  // `results` are the op's first outputs; further outputs are dropped. Fails with InvalidArgument if the op has fewer
  // outputs, or for more than OpDevice::kMaxResults results.
  static absl::StatusOr<std::unique_ptr<const Kernel>> Make(tensorflow::NodeDef node, std::vector<Input> inputs,
                                                            std::vector<Result> results);

  int results() const override { return static_cast<int>(results_.size()); }
  // Fails with the errors of the op.
  absl::Status Run(const KernelCall& call) const override;

 private:
  // A type and a checked shape.
  struct Array {
    tensorflow::DataType dtype;
    tensorflow::TensorShape shape;

    size_t bytes() const { return shape.num_elements() * tensorflow::DataTypeSize(dtype); }
  };
  struct CheckedInput {
    int operand;
    Array array;
    tensorflow::Tensor constant;
  };

  TensorFlowKernel(std::unique_ptr<tensorflow::OpKernel> op, std::vector<CheckedInput> inputs,
                   std::vector<Array> results)
      : op_(std::move(op)), inputs_(std::move(inputs)), results_(std::move(results)) {}

  static absl::StatusOr<Array> Checked(tensorflow::DataType dtype, const std::vector<int64_t>& dims);
  // Copies the op's output to the recipe's memory, unless it is already there.
  static absl::Status TakeResult(const tensorflow::OpKernel& op, const tensorflow::Tensor* made, const Array& result,
                                 const OpDevice::Memory& memory);

  const std::unique_ptr<tensorflow::OpKernel> op_;
  const std::vector<CheckedInput> inputs_;
  const std::vector<Array> results_;
};

// A node for the op's oneDNN kernel if oneDNN is on and has one for the type, else for the op's plain kernel.
tensorflow::NodeDef NativeNode(const std::string& op, tensorflow::DataType dtype);
// A node for the op's plain kernel, without oneDNN.
tensorflow::NodeDef PlainNode(const std::string& op, tensorflow::DataType dtype);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_TENSORFLOW_KERNEL_H_
