#include "plugin/backends/emulator/kernels/cumulative.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "plugin/backends/emulator/kernels/tensorflow_kernel.h"

namespace hpu::emulator {
namespace {

constexpr char kCumulativeName[] = "cumulative.3";
// TensorFlow's ops, indexed by Cumulative::Function.
constexpr const char* kCumulativeOps[Cumulative::kFunctions] = {"Cumsum", "Cumprod", "CumulativeLogsumexp"};

tensorflow::DataType ScanTypeOf(NumberType type) {
  switch (type) {
    case NumberType::kInt32:
      return tensorflow::DT_INT32;
    case NumberType::kFloat64:
      return tensorflow::DT_DOUBLE;
    case NumberType::kInt64:
      return tensorflow::DT_INT64;
    case NumberType::kFloat32:
      break;
  }
  return tensorflow::DT_FLOAT;
}

absl::StatusOr<std::unique_ptr<const Kernel>> MakeCumulative(absl::Span<const int64_t> parameters) {
  if (parameters.size() != 6 || parameters[0] < 0 || parameters[0] >= Cumulative::kFunctions || parameters[1] < 0 ||
      parameters[1] >= kNumberTypes || parameters[2] >> 1 != 0 ||
      *std::min_element(parameters.begin() + 3, parameters.end()) <= 0) {
    return absl::InvalidArgumentError(
        "expected 6 parameters: function (0: sum, 1: product, 2: logarithm of sums of exponentials), type (0: float32, "
        "1: int32, 2: float64, 3: int64), reverse (0 or 1), and positive outer, size and inner");
  }
  const tensorflow::DataType type = ScanTypeOf(static_cast<NumberType>(parameters[1]));
  tensorflow::NodeDef node = PlainNode(kCumulativeOps[parameters[0]], type);
  (*node.mutable_attr())["reverse"].set_b(parameters[2] != 0);
  const std::vector<int64_t> dims(parameters.begin() + 3, parameters.end());
  std::vector<TensorFlowKernel::Input> inputs = {TensorFlowKernel::Operand(0, type, dims),
                                                 TensorFlowKernel::ConstantScalar(1)};
  return TensorFlowKernel::Make(std::move(node), std::move(inputs), type, dims);
}

const bool cumulative_registered = RegisterKernel(kCumulativeName, MakeCumulative);

}  // namespace

KernelSpec Cumulative::Spec() const {
  return {kCumulativeName, {static_cast<int64_t>(function), static_cast<int64_t>(type), reverse, outer, size, inner}};
}

}  // namespace hpu::emulator
