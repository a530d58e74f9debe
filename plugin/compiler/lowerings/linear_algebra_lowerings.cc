// Lowerings of linear algebra ops that tf2xla expands into simpler instructions, or lacks. The expansion is a marked
// call, so that a backend can recognise the op (plugin/program/marked_call.h).
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/lowerings/elimination.h"
#include "plugin/compiler/lowerings/marked_call_builder.h"
#include "plugin/program/marked_call.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/lib/core/bits.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"
#include "xla/client/lib/matrix.h"
#include "xla/client/lib/qr.h"
#include "xla/client/lib/self_adjoint_eig.h"
#include "xla/client/lib/slicing.h"
#include "xla/client/lib/svd.h"
#include "xla/client/xla_builder.h"

namespace hpu {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::XlaOpKernel;
using tensorflow::XlaOpKernelContext;
using xla::XlaOp;
using Values = std::vector<XlaOp>;

// An op on matrices [..., rows, columns] whose attributes, except types, are all boolean.
class LinearAlgebraLowering : public XlaOpKernel {
 public:
  LinearAlgebraLowering(OpKernelConstruction* construction, std::vector<const char*> attributes)
      : XlaOpKernel(construction), text_(construction->def().op()) {
    for (const char* name : attributes) {
      bool value = false;
      OP_REQUIRES_OK(construction, construction->GetAttr(name, &value));
      if (value) absl::StrAppend(&text_, " ", name);
      values_.push_back(value);
    }
  }

  void Compile(XlaOpKernelContext* context) final {
    std::vector<xla::Shape> shapes;
    for (int i = 0; i < context->num_inputs(); ++i) {
      const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(i);
      OP_REQUIRES_OK(context, shape.status());
      OP_REQUIRES(context, shape->rank() >= 2,
                  absl::InvalidArgumentError(
                      absl::StrCat(type_string(), ": input ", i, " must have rank >= 2, got ", shape->ToString())));
      shapes.push_back(*shape);
    }
    OP_REQUIRES(context, !RequiresSquare() || Rows(shapes[0]) == Columns(shapes[0]),
                absl::InvalidArgumentError(
                    absl::StrCat(type_string(), ": input 0 must contain square matrices, got ", shapes[0].ToString())));
    Call(context, shapes);
  }

 protected:
  static int64_t Rows(const xla::Shape& matrices) { return matrices.dimensions(matrices.rank() - 2); }
  static int64_t Columns(const xla::Shape& matrices) { return matrices.dimensions(matrices.rank() - 1); }

  virtual bool RequiresSquare() const { return true; }
  // Computes the op's outputs in simpler instructions, except vectors that are not requested. `matrices` is the first
  // input's shape.
  virtual Values Body(const Values& inputs, const xla::Shape& matrices) const = 0;

  // Value of the attribute at `index` in the constructor's list.
  bool attribute(size_t index) const { return values_[index]; }

 private:
  void Call(XlaOpKernelContext* context, const std::vector<xla::Shape>& shapes) {
    Values operands;
    for (size_t i = 0; i < shapes.size(); ++i) operands.push_back(context->Input(static_cast<int>(i)));
    size_t count = 0;
    const absl::StatusOr<XlaOp> call = MarkedCall(kLinearAlgebra, text_, operands, [&](const Values& parameters) {
      const Values results = Body(parameters, shapes[0]);
      count = results.size();
      return count == 1 ? results[0] : xla::Tuple(parameters[0].builder(), results);
    });
    OP_REQUIRES_OK(context, call.status());
    for (int i = 0; i < context->num_outputs(); ++i) {
      if (i < static_cast<int>(count)) {
        context->SetOutput(i, count == 1 ? *call : xla::GetTupleElement(*call, i));
      } else {  // vectors that are not requested
        context->SetOutput(i,
                           xla::Zeros(context->builder(), xla::ShapeUtil::MakeShape(context->input_xla_type(0), {0})));
      }
    }
  }

  std::string text_;
  std::vector<bool> values_;
};

// The inverse X of A = QR, from R X = Q^T.
XlaOp Inverse(XlaOp a) {
  XlaOp q, r;
  xla::QrExplicit(a, /*full_matrices=*/false, q, r);
  return xla::TriangularSolve(r, xla::TransposeInMinorDims(q), /*left_side=*/true, /*lower=*/false,
                              /*unit_diagonal=*/false, xla::TriangularSolveOptions::NO_TRANSPOSE);
}

class MatrixInverseLowering final : public LinearAlgebraLowering {
 public:
  explicit MatrixInverseLowering(OpKernelConstruction* construction)
      : LinearAlgebraLowering(construction, {"adjoint"}) {}

 private:
  Values Body(const Values& inputs, const xla::Shape&) const override {
    return {Inverse(xla::MaybeTransposeInMinorDims(inputs[0], attribute(0)))};
  }
};

class MatrixSolveLowering final : public LinearAlgebraLowering {
 public:
  explicit MatrixSolveLowering(OpKernelConstruction* construction) : LinearAlgebraLowering(construction, {"adjoint"}) {}

 private:
  Values Body(const Values& inputs, const xla::Shape&) const override {
    return {xla::BatchDot(Inverse(inputs[0]), attribute(0), inputs[1], /*transpose_y=*/false,
                          xla::PrecisionConfig::HIGHEST)};
  }
};

// With A = QR, det A = det Q * det R. det R is the product of R's diagonal. Each reflection other than the identity
// flips the sign of det Q.
struct Diagonal {
  Diagonal(XlaOp a, const xla::Shape& shape)
      : type(shape.element_type()),
        dimension(shape.rank() - 2),
        qr(xla::Qr(a)),
        values(xla::GetMatrixDiagonal(qr.q_and_r)) {}

  XlaOp Sum(XlaOp of) const {
    return xla::Reduce(of, xla::Zero(of.builder(), type), xla::CreateScalarAddComputation(type, of.builder()),
                       {dimension});
  }
  XlaOp Product(XlaOp of) const {
    return xla::Reduce(of, xla::One(of.builder(), type), xla::CreateScalarMultiplyComputation(type, of.builder()),
                       {dimension});
  }
  // det Q: 1 or -1.
  XlaOp Sign() const {
    const XlaOp taus = qr.taus;
    return Product(xla::Select(xla::Eq(taus, xla::ZerosLike(taus)), xla::FullLike(taus, 1), xla::FullLike(taus, -1)));
  }

  const xla::PrimitiveType type;
  const int64_t dimension;
  const xla::QrDecomposition qr;
  const XlaOp values;
};

// An array with `value` for each matrix.
XlaOp Fill(XlaOp a, const xla::Shape& matrices, float value) {
  return xla::Broadcast(xla::ScalarLike(a, value), matrices.dimensions().subspan(0, matrices.rank() - 2));
}

class MatrixDeterminantLowering final : public LinearAlgebraLowering {
 public:
  explicit MatrixDeterminantLowering(OpKernelConstruction* construction) : LinearAlgebraLowering(construction, {}) {}

 private:
  Values Body(const Values& inputs, const xla::Shape& matrices) const override {
    if (Rows(matrices) == 0) return {Fill(inputs[0], matrices, 1)};
    const Diagonal diagonal(inputs[0], matrices);
    return {diagonal.Sign() * diagonal.Product(diagonal.values)};
  }
};

class LogMatrixDeterminantLowering final : public LinearAlgebraLowering {
 public:
  explicit LogMatrixDeterminantLowering(OpKernelConstruction* construction) : LinearAlgebraLowering(construction, {}) {}

 private:
  Values Body(const Values& inputs, const xla::Shape& matrices) const override {
    if (Rows(matrices) == 0) return {Fill(inputs[0], matrices, 1), Fill(inputs[0], matrices, 0)};
    const Diagonal diagonal(inputs[0], matrices);
    return {diagonal.Sign() * diagonal.Product(xla::Sign(diagonal.values)),
            diagonal.Sum(xla::Log(xla::Abs(diagonal.values)))};
  }
};

class QrLowering final : public LinearAlgebraLowering {
 public:
  explicit QrLowering(OpKernelConstruction* construction) : LinearAlgebraLowering(construction, {"full_matrices"}) {}

 private:
  bool RequiresSquare() const override { return false; }
  Values Body(const Values& inputs, const xla::Shape&) const override {
    XlaOp q, r;
    xla::QrExplicit(inputs[0], attribute(0), q, r);
    return {q, r};
  }
};

// Maximum number of sweeps over all pairs of rows, as in TensorFlow's lowerings. Sweeps end earlier if the values no
// longer change.
int64_t Sweeps(int64_t size) { return 2 * tensorflow::Log2Ceiling64(size); }
constexpr float kSmallChange = 1e-6f;

class SelfAdjointEigLowering final : public LinearAlgebraLowering {
 public:
  explicit SelfAdjointEigLowering(OpKernelConstruction* construction)
      : LinearAlgebraLowering(construction, {"compute_v"}) {}

 private:
  Values Body(const Values& inputs, const xla::Shape& matrices) const override {
    const auto result = xla::SelfAdjointEig(inputs[0], /*lower=*/true, Sweeps(Columns(matrices)), kSmallChange);
    if (!attribute(0)) return {result.w};
    return {result.w, result.v};
  }
};

class SvdLowering final : public LinearAlgebraLowering {
 public:
  explicit SvdLowering(OpKernelConstruction* construction)
      : LinearAlgebraLowering(construction, {"compute_uv", "full_matrices"}) {}

 private:
  bool RequiresSquare() const override { return false; }
  Values Body(const Values& inputs, const xla::Shape& matrices) const override {
    const int64_t rows = Rows(matrices), columns = Columns(matrices), min = std::min(rows, columns);
    const xla::SVDResult svd = xla::SVD(inputs[0], Sweeps(std::max(rows, columns)), kSmallChange);
    if (!attribute(0)) return {svd.d};
    if (attribute(1)) return {svd.d, svd.u, svd.v};
    return {svd.d, xla::SliceInMinorDims(svd.u, {0, 0}, {rows, min}),
            xla::SliceInMinorDims(svd.v, {0, 0}, {columns, min})};
  }
};

class LuLowering final : public LinearAlgebraLowering {
 public:
  explicit LuLowering(OpKernelConstruction* construction) : LinearAlgebraLowering(construction, {}) {}

 private:
  Values Body(const Values& inputs, const xla::Shape& matrices) const override {
    const LuFactors lu = FactorByElimination(inputs[0], matrices);
    return {lu.factors, lu.order};
  }
};

class TridiagonalSolveLowering final : public LinearAlgebraLowering {
 public:
  explicit TridiagonalSolveLowering(OpKernelConstruction* construction)
      : LinearAlgebraLowering(construction, {"partial_pivoting", "perturb_singular"}) {}

 private:
  bool RequiresSquare() const override { return false; }
  Values Body(const Values& inputs, const xla::Shape&) const override {
    const xla::Shape right = inputs[1].builder()->GetShape(inputs[1]).value();
    return {SolveTridiagonal(inputs[0], inputs[1], right, attribute(0))};
  }
};

// Supports only int32 permutations, the default of tf.linalg.lu.
REGISTER_XLA_OP(Name("Lu")
                    .Device(kCompilationDevice)
                    .TypeConstraint("T", {tensorflow::DT_FLOAT, tensorflow::DT_DOUBLE})
                    .TypeConstraint("output_idx_type", tensorflow::DT_INT32),
                LuLowering)

#define HPU_REGISTER(op, lowering) \
  REGISTER_XLA_OP(Name(op).Device(kCompilationDevice).TypeConstraint("T", tensorflow::kFloatTypes), lowering)
HPU_REGISTER("MatrixInverse", MatrixInverseLowering)
HPU_REGISTER("MatrixSolve", MatrixSolveLowering)
HPU_REGISTER("MatrixDeterminant", MatrixDeterminantLowering)
HPU_REGISTER("LogMatrixDeterminant", LogMatrixDeterminantLowering)
HPU_REGISTER("Qr", QrLowering)
HPU_REGISTER("SelfAdjointEigV2", SelfAdjointEigLowering)
HPU_REGISTER("Svd", SvdLowering)
HPU_REGISTER("TridiagonalSolve", TridiagonalSolveLowering)
#undef HPU_REGISTER

}  // namespace
}  // namespace hpu
