#include "plugin/backends/emulator/kernels/extremum.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "plugin/backends/emulator/kernels/tensorflow_kernel.h"

namespace hpu::emulator {
namespace {

constexpr char kExtremumName[] = "extremum.3";
// TensorFlow's ops, indexed by Extremum::Function.
constexpr const char* kExtremumOps[Extremum::kFunctions] = {"Max", "Min", "ArgMax", "ArgMin"};

absl::StatusOr<std::unique_ptr<const Kernel>> MakeExtremum(absl::Span<const int64_t> parameters) {
  if (parameters.size() != 6 || parameters[0] < 0 || parameters[0] >= Extremum::kFunctions || parameters[1] >> 1 != 0 ||
      parameters[2] >> 1 != 0 || *std::min_element(parameters.begin() + 3, parameters.end()) <= 0) {
    return absl::InvalidArgumentError(
        "expected 6 parameters: function (0: maximum, 1: minimum, 2: position of the maximum, 3: of the minimum), type "
        "(0: float32, 1: bfloat16), type of positions (0: int32, 1: int64), and positive outer, size and inner");
  }
  const auto function = static_cast<Extremum::Function>(parameters[0]);
  const bool of_positions = function == Extremum::Function::kArgMax || function == Extremum::Function::kArgMin;
  const tensorflow::DataType type = parameters[1] != 0 ? tensorflow::DT_BFLOAT16 : tensorflow::DT_FLOAT;
  const tensorflow::DataType positions = parameters[2] != 0 ? tensorflow::DT_INT64 : tensorflow::DT_INT32;
  tensorflow::NodeDef node = PlainNode(kExtremumOps[parameters[0]], type);
  if (of_positions) (*node.mutable_attr())["output_type"].set_type(positions);
  std::vector<TensorFlowKernel::Input> inputs = {
      TensorFlowKernel::Operand(0, type, {parameters.begin() + 3, parameters.end()}),
      of_positions ? TensorFlowKernel::ConstantScalar(1) : TensorFlowKernel::Constant({1})};
  return TensorFlowKernel::Make(std::move(node), std::move(inputs), of_positions ? positions : type,
                                {parameters[3], parameters[5]});
}

const bool extremum_registered = RegisterKernel(kExtremumName, MakeExtremum);

}  // namespace

KernelSpec Extremum::Spec() const {
  return {kExtremumName, {static_cast<int64_t>(function), bfloat16, wide_positions, outer, size, inner}};
}

}  // namespace hpu::emulator
