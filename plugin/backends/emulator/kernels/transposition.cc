#include "plugin/backends/emulator/kernels/transposition.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "plugin/backends/emulator/kernels/tensorflow_kernel.h"

namespace hpu::emulator {
namespace {

constexpr char kTranspositionName[] = "transposition.2";

// A type of elements of this size, because a transposition copies bits; DT_INVALID for other sizes.
tensorflow::DataType TypeOfSize(int64_t bytes) {
  switch (bytes) {
    case 2:
      return tensorflow::DT_BFLOAT16;
    case 4:
      return tensorflow::DT_FLOAT;
    case 8:
      return tensorflow::DT_DOUBLE;
    default:
      return tensorflow::DT_INVALID;
  }
}

bool IsPermutation(std::vector<int64_t> order) {
  std::vector<int64_t> expected(order.size());
  std::iota(expected.begin(), expected.end(), 0);
  std::sort(order.begin(), order.end());
  return order == expected;
}

// Parameters: size of an element, then the sizes, then the order.
absl::StatusOr<std::unique_ptr<const Kernel>> MakeTransposition(absl::Span<const int64_t> parameters) {
  const size_t rank = parameters.size() / 2;
  const tensorflow::DataType type = parameters.empty() ? tensorflow::DT_INVALID : TypeOfSize(parameters[0]);
  if (parameters.size() % 2 == 0 || type == tensorflow::DT_INVALID) {
    return absl::InvalidArgumentError(
        "expected the element size (2, 4 or 8 bytes), the size of each dimension of the operand, and a permutation of "
        "the dimensions");
  }
  const std::vector<int64_t> sizes(parameters.begin() + 1, parameters.begin() + 1 + rank);
  const std::vector<int64_t> order(parameters.begin() + 1 + rank, parameters.end());
  if (!IsPermutation(order)) return absl::InvalidArgumentError("the order is not a permutation of the dimensions");
  std::vector<int64_t> result_sizes;
  for (const int64_t dimension : order) result_sizes.push_back(sizes[dimension]);
  std::vector<TensorFlowKernel::Input> inputs = {TensorFlowKernel::Operand(0, type, sizes),
                                                 TensorFlowKernel::Constant(order)};
  return TensorFlowKernel::Make(PlainNode("Transpose", type), std::move(inputs), type, std::move(result_sizes));
}

const bool transposition_registered = RegisterKernel(kTranspositionName, MakeTransposition);

}  // namespace

KernelSpec Transposition::Spec() const {
  KernelSpec spec{kTranspositionName, {element_bytes}};
  spec.parameters.insert(spec.parameters.end(), sizes.begin(), sizes.end());
  spec.parameters.insert(spec.parameters.end(), order.begin(), order.end());
  return spec;
}

}  // namespace hpu::emulator
