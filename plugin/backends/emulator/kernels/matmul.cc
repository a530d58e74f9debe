#include "plugin/backends/emulator/kernels/matmul.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "plugin/backends/emulator/kernels/one_dnn.h"
#include "plugin/backends/emulator/kernels/tensorflow_kernel.h"

namespace hpu::emulator {
namespace {

constexpr char kMatmulName[] = "matmul.1";

std::vector<int64_t> Stored(int64_t rows, int64_t columns, bool transposed) {
  return transposed ? std::vector<int64_t>{columns, rows} : std::vector<int64_t>{rows, columns};
}

absl::StatusOr<std::unique_ptr<const Kernel>> MakeMatmul(absl::Span<const int64_t> parameters) {
  if (parameters.size() != 6 || parameters[0] >> 1 != 0 || parameters[1] >> 1 != 0 || parameters[2] >> 1 != 0 ||
      *std::min_element(parameters.begin() + 3, parameters.end()) <= 0) {
    return absl::InvalidArgumentError(
        "expected 6 parameters: bfloat16, transpose_a and transpose_b (each 0 or 1), and positive rows, inner and "
        "columns");
  }
  const MatMul m{parameters[0] != 0, parameters[1] != 0, parameters[2] != 0,
                 parameters[3],      parameters[4],      parameters[5]};
  const auto dtype = m.bfloat16 ? tensorflow::DT_BFLOAT16 : tensorflow::DT_FLOAT;
  if (!UsesOneDnn("MatMul", m.bfloat16)) {
    return absl::UnimplementedError(
        m.bfloat16 ? "oneDNN is off for bfloat16 products; it requires AVX512_BF16 and TF_ENABLE_ONEDNN_OPTS unset or 1"
                   : "oneDNN is off for float32 products; set TF_ENABLE_ONEDNN_OPTS=1");
  }
  tensorflow::NodeDef node = NativeNode("MatMul", dtype);
  (*node.mutable_attr())["transpose_a"].set_b(m.transpose_a);
  (*node.mutable_attr())["transpose_b"].set_b(m.transpose_b);
  return TensorFlowKernel::Make(std::move(node),
                                {TensorFlowKernel::Operand(0, dtype, Stored(m.rows, m.inner, m.transpose_a)),
                                 TensorFlowKernel::Operand(1, dtype, Stored(m.inner, m.columns, m.transpose_b))},
                                dtype, {m.rows, m.columns});
}

const bool matmul_registered = RegisterKernel(kMatmulName, MakeMatmul);

}  // namespace

KernelSpec MatMul::Spec() const { return {kMatmulName, {bfloat16, transpose_a, transpose_b, rows, inner, columns}}; }

}  // namespace hpu::emulator
