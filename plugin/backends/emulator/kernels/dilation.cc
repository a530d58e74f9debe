#include "plugin/backends/emulator/kernels/dilation.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "plugin/backends/emulator/kernels/tensorflow_kernel.h"

namespace hpu::emulator {
namespace {

constexpr char kName[] = "dilation.2";
// TensorFlow's ops, indexed by Dilation::Of.
constexpr const char* kOps[] = {"Dilation2D", "Dilation2DBackpropInput", "Dilation2DBackpropFilter"};
// TensorFlow's kernel counts in 32 bits.
constexpr int64_t kMaxSize = int64_t{1} << 30;

absl::StatusOr<std::unique_ptr<const Kernel>> Make(absl::Span<const int64_t> parameters) {
  if (parameters.size() != 14 || parameters[0] < 0 || parameters[0] >= static_cast<int64_t>(std::size(kOps)) ||
      parameters[1] >> 1 != 0 || *std::min_element(parameters.begin() + 2, parameters.end()) <= 0 ||
      *std::max_element(parameters.begin() + 2, parameters.end()) > kMaxSize) {
    return absl::InvalidArgumentError(
        "expected 14 parameters: result (0: maxima, 1: gradient of the images, 2: of the filter), padding (0: VALID, "
        "1: SAME), batch, channels, and input, output, window, stride and rate of rows and columns, each from 1 to "
        "2^30");
  }
  const int64_t batch = parameters[2], channels = parameters[3];
  const absl::Span<const int64_t> rows = parameters.subspan(4, 5), columns = parameters.subspan(9, 5);
  tensorflow::NodeDef node = PlainNode(kOps[parameters[0]], tensorflow::DT_FLOAT);
  const auto set = [&](const char* name, int64_t of_rows, int64_t of_columns) {
    auto* list = (*node.mutable_attr())[name].mutable_list();
    for (const int64_t value : {int64_t{1}, of_rows, of_columns, int64_t{1}}) list->add_i(value);
  };
  set("strides", rows[3], columns[3]);
  set("rates", rows[4], columns[4]);
  (*node.mutable_attr())["padding"].set_s(parameters[1] != 0 ? "SAME" : "VALID");

  const std::vector<int64_t> images = {batch, rows[0], columns[0], channels};
  const std::vector<int64_t> filter = {rows[2], columns[2], channels};
  const std::vector<int64_t> maxima = {batch, rows[1], columns[1], channels};
  std::vector<TensorFlowKernel::Input> inputs = {TensorFlowKernel::Operand(0, tensorflow::DT_FLOAT, images),
                                                 TensorFlowKernel::Operand(1, tensorflow::DT_FLOAT, filter)};
  const auto of = static_cast<Dilation::Of>(parameters[0]);
  if (of != Dilation::Of::kMaxima) inputs.push_back(TensorFlowKernel::Operand(2, tensorflow::DT_FLOAT, maxima));
  const std::vector<int64_t>& result = of == Dilation::Of::kMaxima  ? maxima
                                       : of == Dilation::Of::kInput ? images
                                                                    : filter;
  return TensorFlowKernel::Make(std::move(node), std::move(inputs), tensorflow::DT_FLOAT, result);
}

const bool registered = RegisterKernel(kName, Make);

}  // namespace

KernelSpec Dilation::Spec() const {
  KernelSpec spec{kName, {static_cast<int64_t>(of), same_padding, batch, channels}};
  for (const Dimension& d : {rows, columns}) {
    spec.parameters.insert(spec.parameters.end(), {d.input, d.output, d.window, d.stride, d.rate});
  }
  return spec;
}

}  // namespace hpu::emulator
