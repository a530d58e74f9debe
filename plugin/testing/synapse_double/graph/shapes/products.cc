// Shapes of matrix products: C{N,M} = A{K,M} · B{N,K}.
#include <algorithm>
#include <utility>

#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/graph/shapes/shape_check.h"

namespace hpu::synapse_double {
namespace {

constexpr size_t kMatrixRank = 2;
constexpr size_t kMaxBatchRank = 3;

// output 0 = op(a) · op(b)
void CheckProduct(ShapeCheck& check, const Sizes& a, const Sizes& b, synapse::synGEMMParams params, bool has_batch) {
  if (!check.Require(a.size() >= kMatrixRank && b.size() >= kMatrixRank, "operands ", TextOf(a), " and ", TextOf(b),
                     ": expected rank 2 or more")) {
    return;
  }
  if (!check.Require(has_batch || (a.size() == kMatrixRank && b.size() == kMatrixRank), "operands ", TextOf(a), " and ",
                     TextOf(b), ": expected rank 2; batch_gemm takes batches")) {
    return;
  }
  const auto [a_columns, a_rows] = params.transpose_a ? std::pair(a[1], a[0]) : std::pair(a[0], a[1]);
  const auto [b_columns, b_rows] = params.transpose_b ? std::pair(b[1], b[0]) : std::pair(b[0], b[1]);
  if (!check.Require(a_columns == b_rows, "common dimension ", a_columns, " of ", TextOf(a),
                     params.transpose_a ? " transposed" : "", " and ", b_rows, " of ", TextOf(b),
                     params.transpose_b ? " transposed" : "")) {
    return;
  }
  Sizes result = {b_columns, a_rows};
  for (size_t d = kMatrixRank; d < std::max(a.size(), b.size()); ++d) {
    const int64_t left = SizeOf(a, d);
    const int64_t right = SizeOf(b, d);
    if (!check.Require(left == right || left == 1 || right == 1, "batch dimension ", d, " of ", TextOf(a), " and ",
                       TextOf(b), ": sizes must be equal or 1")) {
      return;
    }
    result.push_back(left == 1 ? right : left);
  }
  if (!check.Require(result.size() <= kMatrixRank + kMaxBatchRank, "more than 3 batch dimensions: ", TextOf(result))) {
    return;
  }
  check.RequireOutput(0, result);
}

// A, B[, bias] -> C
void Gemm(ShapeCheck& check) {
  CheckProduct(check, check.in(0), check.in(1), check.params<synapse::synGEMMParams>(), false);
  check.RequireInputElements(2, check.out(0)[0]);
}

void BatchGemm(ShapeCheck& check) {
  CheckProduct(check, check.in(0), check.in(1), check.params<synapse::synGEMMParams>(), true);
}

// dY, B -> dA. Without params: transpose_b.
template <bool has_batch>
void GradientOfA(ShapeCheck& check) {
  CheckProduct(check, check.in(0), check.in(1), check.params<synapse::synGEMMParams>({false, true}), has_batch);
}

// dY, A -> dB. Without params: transpose_a.
template <bool has_batch>
void GradientOfB(ShapeCheck& check) {
  CheckProduct(check, check.in(1), check.in(0), check.params<synapse::synGEMMParams>({true, false}), has_batch);
}

}  // namespace

ShapeRules ProductShapes() {
  return {{"gemm", Gemm},
          {"batch_gemm", BatchGemm},
          {"gemm_dedx", GradientOfA<false>},
          {"batch_gemm_dedx", GradientOfA<true>},
          {"gemm_dedw", GradientOfB<false>},
          {"batch_gemm_dedw", GradientOfB<true>}};
}

}  // namespace hpu::synapse_double
