#include "plugin/backends/emulator/kernels/elementary_function.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "plugin/backends/emulator/kernels/tensorflow_kernel.h"

namespace hpu::emulator {
namespace {

constexpr char kElementaryFunctionName[] = "elementary_function.2";
// TensorFlow's ops, indexed by ElementaryFunction::Function.
constexpr const char* kElementaryOps[ElementaryFunction::kFunctions] = {"Sin", "Cos", "Asin", "Acos", "Atan", "Atan2"};

absl::StatusOr<std::unique_ptr<const Kernel>> MakeElementaryFunction(absl::Span<const int64_t> parameters) {
  if (parameters.size() != 3 || parameters[0] < 0 || parameters[0] >= ElementaryFunction::kFunctions ||
      parameters[1] >> 1 != 0 || parameters[2] <= 0) {
    return absl::InvalidArgumentError(
        "expected 3 parameters: function (0: sin, 1: cos, 2: asin, 3: acos, 4: atan, 5: atan2), bfloat16 "
        "(0 or 1), and elements > 0");
  }
  const tensorflow::DataType type = parameters[1] != 0 ? tensorflow::DT_BFLOAT16 : tensorflow::DT_FLOAT;
  const std::vector<int64_t> dims = {parameters[2]};
  std::vector<TensorFlowKernel::Input> inputs = {TensorFlowKernel::Operand(0, type, dims)};
  if (static_cast<ElementaryFunction::Function>(parameters[0]) == ElementaryFunction::Function::kArcTangent2) {
    inputs.push_back(TensorFlowKernel::Operand(1, type, dims));
  }
  return TensorFlowKernel::Make(PlainNode(kElementaryOps[parameters[0]], type), std::move(inputs), type, dims);
}

const bool elementary_function_registered = RegisterKernel(kElementaryFunctionName, MakeElementaryFunction);

}  // namespace

KernelSpec ElementaryFunction::Spec() const {
  return {kElementaryFunctionName, {static_cast<int64_t>(function), bfloat16, elements}};
}

}  // namespace hpu::emulator
