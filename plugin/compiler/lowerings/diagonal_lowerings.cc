// Lowerings of DiagPart and MatrixDiagPart. tf2xla's lowerings mask the whole matrix and sum it. In a matrix without
// row ends, a diagonal is a slice with a stride.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using xla::XlaOp;

// Matrices of `rows` rows and `columns` columns, the last two dimensions of an array.
struct Matrices {
  XlaOp flat;  // [batch, rows * columns]
  int64_t rows;
  int64_t columns;

  int64_t DiagonalSize(int64_t diagonal) const {
    return std::max<int64_t>(0,
                             std::min(rows + std::min<int64_t>(0, diagonal), columns - std::max<int64_t>(0, diagonal)));
  }

  // Diagonal number `diagonal` of each matrix: [batch, DiagonalSize]. 0 is the main diagonal; positive ones are above.
  XlaOp Diagonal(int64_t diagonal) const {
    const int64_t size = DiagonalSize(diagonal);
    const int64_t begin = size == 0 ? 0 : diagonal >= 0 ? diagonal : -diagonal * columns;
    const int64_t end = size == 0 ? 0 : begin + (size - 1) * (columns + 1) + 1;
    return xla::SliceInDim(flat, begin, end, columns + 1, 1);
  }
};

class DiagPartLowering : public tensorflow::XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;

  void Compile(tensorflow::XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(0);
    OP_REQUIRES_OK(context, shape.status());
    const absl::Span<const int64_t> dims = shape->dimensions();
    const size_t half = dims.size() / 2;
    OP_REQUIRES(context, half > 0 && dims.size() % 2 == 0 && dims.subspan(0, half) == dims.subspan(half),
                absl::InvalidArgumentError(absl::StrCat(
                    "DiagPart: the first half of the dimensions must equal the second half, got ", shape->ToString())));
    int64_t size = 1;
    for (const int64_t dim : dims.subspan(0, half)) size *= dim;
    const Matrices matrices{xla::Reshape(context->Input(0), {1, size * size}), size, size};
    context->SetOutput(0, xla::Reshape(matrices.Diagonal(0), dims.subspan(0, half)));
  }
};

class MatrixDiagPartLowering : public tensorflow::XlaOpKernel {
 public:
  explicit MatrixDiagPartLowering(tensorflow::OpKernelConstruction* construction) : XlaOpKernel(construction) {
    if (!construction->HasAttr("align")) return;
    std::string align;
    OP_REQUIRES_OK(construction, construction->GetAttr("align", &align));
    above_is_left_ = absl::StartsWith(align, "LEFT");
    below_is_left_ = absl::EndsWith(align, "LEFT");
  }

  void Compile(tensorflow::XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(0);
    OP_REQUIRES_OK(context, shape.status());
    const int64_t rank = shape->dimensions_size();
    OP_REQUIRES(context, rank >= 2,
                absl::InvalidArgumentError(
                    absl::StrCat(type_string(), ": input must have at least 2 dimensions, got ", shape->ToString())));
    std::vector<int64_t> band;
    XlaOp padding = xla::Zero(context->builder(), shape->element_type());
    if (num_inputs() > 1) {
      OP_REQUIRES_OK(context, context->ConstantInputReshapedToIntVector(1, &band));
      padding = context->Input(2);
    } else {
      band.push_back(0);
    }
    const int64_t rows = shape->dimensions(rank - 2), columns = shape->dimensions(rank - 1);
    const auto is_diagonal = [&](int64_t diagonal) {
      return diagonal == 0 || (-rows < diagonal && diagonal < columns);
    };
    OP_REQUIRES(context,
                (band.size() == 1 || band.size() == 2) && band.front() <= band.back() && is_diagonal(band.front()) &&
                    is_diagonal(band.back()),
                absl::InvalidArgumentError(
                    absl::StrCat(type_string(), ": k must be one or two ascending numbers of diagonals between ", -rows,
                                 " and ", columns, ", got [", absl::StrJoin(band, ","), "]")));
    std::vector<int64_t> dims(shape->dimensions().begin(), shape->dimensions().end() - 2);
    int64_t batch = 1;
    for (const int64_t dim : dims) batch *= dim;
    const Matrices matrices{xla::Reshape(context->Input(0), {batch, rows * columns}), rows, columns};
    if (band.front() == band.back()) {
      dims.push_back(matrices.DiagonalSize(band.front()));
      context->SetOutput(0, xla::Reshape(matrices.Diagonal(band.front()), dims));
      return;
    }
    const int64_t length =
        std::min(rows + std::min<int64_t>(0, band.back()), columns - std::max<int64_t>(0, band.front()));
    std::vector<XlaOp> diagonals;
    for (int64_t diagonal = band.back(); diagonal >= band.front(); --diagonal) {
      const int64_t missing = length - matrices.DiagonalSize(diagonal);
      const bool left = diagonal == 0 || (diagonal > 0 ? above_is_left_ : below_is_left_);
      const XlaOp padded =
          xla::PadInDim(matrices.Diagonal(diagonal), padding, 1, left ? 0 : missing, left ? missing : 0);
      diagonals.push_back(padded);
    }
    dims.insert(dims.end(), {static_cast<int64_t>(diagonals.size()), length});
    context->SetOutput(0, xla::Reshape(xla::ConcatInDim(context->builder(), diagonals, 1), dims));
  }

 private:
  bool above_is_left_ = true;
  bool below_is_left_ = true;
};

REGISTER_XLA_OP(Name("DiagPart").Device(kCompilationDevice), DiagPartLowering)
REGISTER_XLA_OP(Name("MatrixDiagPart").Device(kCompilationDevice), MatrixDiagPartLowering)
REGISTER_XLA_OP(Name("MatrixDiagPartV2")
                    .Device(kCompilationDevice)
                    .CompileTimeConstantInput("k")
                    .CompileTimeConstantInput("padding_value"),
                MatrixDiagPartLowering)
REGISTER_XLA_OP(Name("MatrixDiagPartV3")
                    .Device(kCompilationDevice)
                    .CompileTimeConstantInput("k")
                    .CompileTimeConstantInput("padding_value"),
                MatrixDiagPartLowering)

}  // namespace
}  // namespace hpu
