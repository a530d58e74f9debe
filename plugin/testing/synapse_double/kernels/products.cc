// Matrix products: gemm, batch_gemm, and their gradients.
#include <algorithm>

#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/kernels/families.h"
#include "plugin/testing/synapse_double/kernels/product_operand.h"
#include "plugin/testing/synapse_double/kernels/row_loops.h"

namespace hpu::synapse_double {
namespace {

constexpr int64_t kBlockElements = 32768;  // 256 KiB

// A matrix operand: rows and columns after its transpose.
struct Matrix {
  int64_t columns;
  int64_t rows;
  int64_t column_stride;
  int64_t row_stride;
};

Matrix MatrixOf(const Sizes& sizes, bool transpose) {
  const Matrix matrix = {SizeOf(sizes, 0), SizeOf(sizes, 1), 1, SizeOf(sizes, 0)};
  return transpose ? Matrix{matrix.rows, matrix.columns, matrix.row_stride, matrix.column_stride} : matrix;
}

// Sizes of the batch dimensions to which both operands broadcast. Missing slow dimensions count as 1.
bool BatchSizes(KernelContext* context, const Sizes& a, const Sizes& b, Sizes* batch) {
  for (size_t d = 2; d < std::max(a.size(), b.size()); ++d) {
    const int64_t size_a = SizeOf(a, d);
    const int64_t size_b = SizeOf(b, d);
    if (!context->Require(size_a == size_b || size_a == 1 || size_b == 1, "batch dimension ", d,
                          " differs: ", TextOf(a), ", ", TextOf(b))) {
      return false;
    }
    batch->push_back(size_a == 1 ? size_b : size_a);
  }
  return true;
}

// Strides of an operand over the batch; 0 where it broadcasts.
Sizes BatchStrides(const DenseArray<double>& operand, size_t rank) {
  Sizes strides(rank);
  for (size_t d = 0; d < rank; ++d) strides[d] = operand.size(d + 2) == 1 ? 0 : operand.strides()[d + 2];
  return strides;
}

// The matrices of an operand with rows and columns exchanged.
DenseArray<double> Transposed(const DenseArray<double>& operand) {
  const int64_t columns = operand.size(0);
  const int64_t rows = operand.size(1);
  Sizes sizes = operand.sizes();
  std::swap(sizes[0], sizes[1]);
  DenseArray<double> result(sizes);
  for (int64_t base = 0; base < operand.count(); base += rows * columns) {
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column < columns; ++column) {
        result[base + column * rows + row] = operand[base + row * columns + column];
      }
    }
  }
  return result;
}

// output 0 = op(a) · op(b) + bias.
void MultiplyMatrices(KernelContext& context, const TensorView& a_view, const TensorView& b_view, bool transpose_a,
                      bool transpose_b, const TensorView* bias_view) {
  const DenseArray<double> a = LoadOperand(context, a_view);
  const DenseArray<double> b = LoadOperand(context, b_view);
  const Matrix matrix_a = MatrixOf(a.sizes(), transpose_a);
  const Matrix matrix_b = MatrixOf(b.sizes(), transpose_b);
  if (!context.Require(a_view.rank() >= 2 && b_view.rank() >= 2, "operands have ranks ", a_view.rank(), " and ",
                       b_view.rank(), ": expected 2 or more")) {
    return;
  }
  if (!context.Require(matrix_a.columns == matrix_b.rows, "common dimension differs: ", TextOf(a.sizes()),
                       transpose_a ? " transposed, " : ", ", TextOf(b.sizes()), transpose_b ? " transposed" : "")) {
    return;
  }
  Sizes batch;
  if (!BatchSizes(&context, a.sizes(), b.sizes(), &batch)) return;
  Sizes sizes = {matrix_b.columns, matrix_a.rows};
  sizes.insert(sizes.end(), batch.begin(), batch.end());
  if (!context.RequireSizes(context.output(0), sizes, "output 0")) return;
  DenseArray<double> c(sizes);
  if (c.count() == 0) return;
  const DenseArray<double> b_rows = transpose_b ? Transposed(b) : b;
  const Sizes a_strides = BatchStrides(a, batch.size());
  const Sizes b_strides = BatchStrides(b_rows, batch.size());
  Sizes index(batch.size());
  const int64_t product_count = ElementCount(batch);
  const int64_t block_rows = std::max<int64_t>(kBlockElements / matrix_b.columns, 1);
  for (int64_t i = 0; i < product_count; ++i) {
    const int64_t a_base = Dot(index, a_strides);
    const int64_t b_base = Dot(index, b_strides);
    // Blocks of rows of b that stay in the cache for all rows of a.
    for (int64_t begin = 0; begin < matrix_a.columns; begin += block_rows) {
      const int64_t end = std::min(begin + block_rows, matrix_a.columns);
      for (int64_t row = 0; row < matrix_a.rows; ++row) {
        double* const out = &c[(i * matrix_a.rows + row) * matrix_b.columns];
        const auto factor = [&](int64_t k) {
          return a[a_base + row * matrix_a.row_stride + k * matrix_a.column_stride];
        };
        int64_t k = begin;
        for (; k + kScaledRows <= end; k += kScaledRows) {
          double factors[kScaledRows];
          for (int64_t j = 0; j < kScaledRows; ++j) factors[j] = factor(k + j);
          AddScaledRows(matrix_b.columns, factors, &b_rows[b_base + k * matrix_b.columns], matrix_b.columns, out);
        }
        for (; k < end; ++k) AddScaledRow(matrix_b.columns, factor(k), &b_rows[b_base + k * matrix_b.columns], out);
      }
    }
    NextIndex(batch, &index);
  }
  if (bias_view != nullptr && !AddBias(&context, *bias_view, &c)) return;
  StoreProduct(context, c, context.output(0));
}

bool RequireRankTwo(KernelContext* context) {
  return context->Require(context->input(0).rank() == 2 && context->input(1).rank() == 2, "operands have ranks ",
                          context->input(0).rank(), " and ", context->input(1).rank(), ": expected 2");
}

void BatchGemm(KernelContext& context) {
  const auto params = context.params<synapse::synGEMMParams>();
  MultiplyMatrices(context, context.input(0), context.input(1), params.transpose_a, params.transpose_b,
                   context.has_input(2) ? &context.input(2) : nullptr);
}

void Gemm(KernelContext& context) {
  if (RequireRankTwo(&context)) BatchGemm(context);
}

// dY, B -> dA = dY · op(B)
void BatchGemmDedx(KernelContext& context) {
  const auto params = context.params<synapse::synGEMMParams>({false, true});
  MultiplyMatrices(context, context.input(0), context.input(1), params.transpose_a, params.transpose_b, nullptr);
}

// dY, A -> dB = op(A) · dY
void BatchGemmDedw(KernelContext& context) {
  const auto params = context.params<synapse::synGEMMParams>({true, false});
  MultiplyMatrices(context, context.input(1), context.input(0), params.transpose_a, params.transpose_b, nullptr);
}

void GemmDedx(KernelContext& context) {
  if (RequireRankTwo(&context)) BatchGemmDedx(context);
}

void GemmDedw(KernelContext& context) {
  if (RequireRankTwo(&context)) BatchGemmDedw(context);
}

}  // namespace

void AddProducts(KernelRegistry* registry) {
  const auto add = [&](const char* stem, size_t max_inputs, Kernel kernel) {
    registry->Add({stem, Suffix::kNone, {2, max_inputs}, {1, 1}, {0, sizeof(synapse::synGEMMParams)}, kernel});
  };
  add("batch_gemm", 3, BatchGemm);
  add("batch_gemm_dedw", 2, BatchGemmDedw);
  add("batch_gemm_dedx", 2, BatchGemmDedx);
  add("gemm", 3, Gemm);
  add("gemm_dedw", 2, GemmDedw);
  add("gemm_dedx", 2, GemmDedx);
}

}  // namespace hpu::synapse_double
