// Lowering of matrix products (dot).
#include <cstdint>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "plugin/backends/gaudi/lowerings/integer_dot.h"
#include "plugin/backends/gaudi/lowerings/lowerings.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/base/status_macros.h"
#include "xla/primitive_util.h"

namespace hpu::gaudi {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// An operand of a dot as a batch of matrices, after DotDecomposer: batch dimensions come first.
struct Matrix {
  const HloInstruction* source;
  uint64_t batch = 1;
  uint64_t rows = 1;        // size of the dimensions that are neither batch nor contracted
  uint64_t contracted = 1;  // size of the contracted dimensions
  bool contracted_last = true;
};

absl::StatusOr<Matrix> MatrixOf(const HloInstruction* operand, const google::protobuf::RepeatedField<int64_t>& batch,
                                const google::protobuf::RepeatedField<int64_t>& contracting) {
  Matrix matrix{operand};
  const int64_t rank = operand->shape().dimensions_size();
  const auto is_in = [](const auto& list, int64_t d) { return absl::c_linear_search(list, d); };
  int64_t last_contracted = -1;
  int64_t first_contracted = rank;
  int64_t last_free = -1;
  int64_t first_free = rank;
  for (int64_t d = 0; d < rank; ++d) {
    const uint64_t size = operand->shape().dimensions(d);
    if (is_in(batch, d)) {
      if (d >= batch.size()) {
        return absl::UnimplementedError(
            "Gaudi has no kernel for a dot with batch dimensions after other dimensions of an operand");
      }
      matrix.batch *= size;
    } else if (is_in(contracting, d)) {
      matrix.contracted *= size;
      last_contracted = d;
      first_contracted = std::min(first_contracted, d);
    } else {
      matrix.rows *= size;
      last_free = d;
      first_free = std::min(first_free, d);
    }
  }
  if (last_contracted < 0 || last_free < 0 || last_free < first_contracted) return matrix;
  if (last_contracted > first_free) {
    return absl::UnimplementedError(
        "Gaudi has no kernel for a dot that interleaves contracting and other dimensions of an operand");
  }
  matrix.contracted_last = false;
  return matrix;
}

// Skips a transpose of the two inner dimensions of each matrix: the product can transpose its operands itself.
const HloInstruction* SkipInnerTranspose(const HloInstruction* operand, bool* is_transposed) {
  const int64_t rank = operand->shape().dimensions_size();
  if (operand->opcode() != HloOpcode::kTranspose || rank < 2) return operand;
  for (int64_t d = 0; d < rank - 2; ++d) {
    if (operand->dimensions(d) != d) return operand;
  }
  if (operand->dimensions(rank - 1) != rank - 2) return operand;
  *is_transposed = !*is_transposed;
  return operand->operand(0);
}

// `source` reshaped to {inner, outer}, or to {inner, outer, batch} if batch is not 1.
absl::StatusOr<TensorId> AsMatrices(Lowering& lowering, const HloInstruction* source, uint64_t inner, uint64_t outer,
                                    uint64_t batch) {
  HPU_ASSIGN_OR_RETURN(const TensorId x, lowering.Value(source));
  return Reshape(lowering.builder(), x, batch == 1 ? Sizes{inner, outer} : Sizes{inner, outer, batch});
}

absl::Status LowerDot(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  if (!xla::primitive_util::IsFloatingPointType(instruction.shape().element_type())) {
    return LowerIntegerDot(lowering, instruction);
  }
  const xla::DotDimensionNumbers& numbers = instruction.dot_dimension_numbers();
  HPU_ASSIGN_OR_RETURN(
      Matrix a, MatrixOf(instruction.operand(0), numbers.lhs_batch_dimensions(), numbers.lhs_contracting_dimensions()));
  HPU_ASSIGN_OR_RETURN(
      Matrix b, MatrixOf(instruction.operand(1), numbers.rhs_batch_dimensions(), numbers.rhs_contracting_dimensions()));
  HPU_ASSIGN_OR_RETURN(const TensorType type, lowering.TypeOf(instruction));
  // C{N,M} = A{K,M} · B{N,K}
  bool transpose_a = !a.contracted_last;
  bool transpose_b = b.contracted_last;
  if (a.source->shape().dimensions_size() == numbers.lhs_batch_dimensions_size() + 2) {
    a.source = SkipInnerTranspose(a.source, &transpose_a);
  }
  if (b.source->shape().dimensions_size() == numbers.rhs_batch_dimensions_size() + 2) {
    b.source = SkipInnerTranspose(b.source, &transpose_b);
  }
  HPU_ASSIGN_OR_RETURN(TensorId left, AsMatrices(lowering, a.source, transpose_a ? a.rows : a.contracted,
                                                 transpose_a ? a.contracted : a.rows, a.batch));
  HPU_ASSIGN_OR_RETURN(TensorId right, AsMatrices(lowering, b.source, transpose_b ? b.contracted : b.rows,
                                                  transpose_b ? b.rows : b.contracted, b.batch));
  if (builder.type(left) != builder.type(right)) {
    HPU_ASSIGN_OR_RETURN(left, Cast(builder, left, type.type));
    HPU_ASSIGN_OR_RETURN(right, Cast(builder, right, type.type));
  }
  synapse::synGEMMParams params = {};
  params.transpose_a = transpose_a;
  params.transpose_b = transpose_b;
  const Sizes sizes = a.batch == 1 ? Sizes{b.rows, a.rows} : Sizes{b.rows, a.rows, a.batch};
  HPU_ASSIGN_OR_RETURN(const TensorId product, builder.Add(a.batch == 1 ? "gemm" : "batch_gemm", {left, right},
                                                           {type.type, sizes}, ParamsBytes(params)));
  HPU_ASSIGN_OR_RETURN(const TensorId value, Reshape(builder, product, type.sizes));
  lowering.Set(instruction, value);
  return absl::OkStatus();
}

}  // namespace

void AddProducts(LowerTable* table) { (*table)[HloOpcode::kDot] = LowerDot; }

}  // namespace hpu::gaudi
