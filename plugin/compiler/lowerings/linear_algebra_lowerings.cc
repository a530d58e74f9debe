// Lowerings of linear algebra ops that tf2xla expands into simpler instructions, or lacks. The expansion is a marked
// call, so that a backend can recognise the op (plugin/program/marked_call.h).
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
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
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/matrix.h"
#include "xla/hlo/builder/lib/qr.h"
#include "xla/hlo/builder/lib/self_adjoint_eig.h"
#include "xla/hlo/builder/lib/slicing.h"
#include "xla/hlo/builder/lib/svd.h"
#include "xla/hlo/builder/xla_builder.h"

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
      OP_REQUIRES(context, shape->dimensions_size() >= 2,
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
  static int64_t Rows(const xla::Shape& matrices) { return matrices.dimensions(matrices.dimensions_size() - 2); }
  static int64_t Columns(const xla::Shape& matrices) { return matrices.dimensions(matrices.dimensions_size() - 1); }

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

// LU factors of matrices [..., n, n] with n > 0, as in TensorFlow's CPU kernels: a singular matrix has a pivot of 0.
class Factors {
 public:
  Factors(XlaOp a, const xla::Shape& shape)
      : type_(shape.element_type()),
        batch_rank_(shape.dimensions_size() - 2),
        size_(shape.dimensions(shape.dimensions_size() - 1)),
        lu_(FactorByElimination(a, shape)),
        pivots_(xla::GetMatrixDiagonal(lu_.factors)) {}

  const LuFactors& lu() const { return lu_; }

  // `x` [..., rows, columns], with NaN in place of the results of singular matrices.
  XlaOp NanIfSingular(XlaOp x) const {
    const XlaOp is_zero = xla::Eq(pivots_, xla::ZerosLike(pivots_));
    const XlaOp singular = xla::Reduce(is_zero, xla::ConstantR0<bool>(x.builder(), false),
                                       xla::CreateScalarOrComputation(xla::PRED, x.builder()), {batch_rank_});
    const xla::Shape shape = x.builder()->GetShape(x).value();
    std::vector<int64_t> batch(batch_rank_);
    absl::c_iota(batch, 0);
    return xla::Select(xla::BroadcastInDim(singular, shape.dimensions(), batch),
                       xla::NanValue(x.builder(), shape.element_type()) + xla::ZerosLike(x), x);
  }

  // X with A X = `right`; NaN if A is singular.
  XlaOp Solve(XlaOp right) const {
    const xla::Shape shape = right.builder()->GetShape(right).value();
    std::vector<int64_t> rows(batch_rank_ + 1);
    absl::c_iota(rows, 0);
    const XlaOp order = xla::BroadcastInDim(lu_.order, shape.dimensions(), rows);
    const XlaOp permuted = xla::TorchGather(right, order, batch_rank_, /*sparse=*/false);
    return NanIfSingular(Triangular(Triangular(permuted, /*lower=*/true), /*lower=*/false));
  }

  // Product over the factors of the determinant: the pivots after `function`, and the sign of the permutation.
  XlaOp Product(absl::FunctionRef<XlaOp(XlaOp)> function) const {
    const XlaOp values = function(pivots_);
    return Sign() * xla::Reduce(values, xla::One(values.builder(), type_),
                                xla::CreateScalarMultiplyComputation(type_, values.builder()), {batch_rank_});
  }

  XlaOp LogAbsDeterminant() const {
    const XlaOp logs = xla::Log(xla::Abs(pivots_));
    return xla::Reduce(logs, xla::Zero(logs.builder(), type_), xla::CreateScalarAddComputation(type_, logs.builder()),
                       {batch_rank_});
  }

 private:
  XlaOp Triangular(XlaOp right, bool lower) const {
    return xla::TriangularSolve(lu_.factors, right, /*left_side=*/true, lower, /*unit_diagonal=*/lower,
                                xla::TriangularSolveOptions::NO_TRANSPOSE);
  }

  // Sign of the row permutation: -1 for an odd number of pairs in descending order.
  XlaOp Sign() const {
    xla::XlaBuilder* const builder = lu_.order.builder();
    const xla::Shape shape = builder->GetShape(lu_.order).value();
    std::vector<int64_t> pairs(shape.dimensions().begin(), shape.dimensions().end()), earlier(batch_rank_ + 1);
    pairs.push_back(size_);
    absl::c_iota(earlier, 0);
    std::vector<int64_t> later = earlier;
    later.back() = batch_rank_ + 1;
    const XlaOp descending =
        xla::Gt(xla::BroadcastInDim(lu_.order, pairs, earlier), xla::BroadcastInDim(lu_.order, pairs, later));
    const xla::Shape index = xla::ShapeUtil::MakeShape(xla::S32, pairs);
    const XlaOp ordered = xla::Lt(xla::Iota(builder, index, batch_rank_), xla::Iota(builder, index, batch_rank_ + 1));
    const XlaOp count =
        xla::Reduce(xla::ConvertElementType(xla::And(descending, ordered), xla::S32), xla::Zero(builder, xla::S32),
                    xla::CreateScalarAddComputation(xla::S32, builder), {batch_rank_, batch_rank_ + 1});
    const XlaOp odd = xla::And(count, xla::One(builder, xla::S32));
    return xla::ConvertElementType(xla::One(builder, xla::S32) - odd - odd, type_);
  }

  const xla::PrimitiveType type_;
  const int64_t batch_rank_;
  const int64_t size_;
  const LuFactors lu_;
  const XlaOp pivots_;
};

// An array with `value` for each matrix.
XlaOp Fill(XlaOp a, const xla::Shape& matrices, float value) {
  return xla::Broadcast(xla::ScalarLike(a, value), matrices.dimensions().subspan(0, matrices.dimensions_size() - 2));
}

class MatrixInverseLowering final : public LinearAlgebraLowering {
 public:
  explicit MatrixInverseLowering(OpKernelConstruction* construction)
      : LinearAlgebraLowering(construction, {"adjoint"}) {}

 private:
  Values Body(const Values& inputs, const xla::Shape& matrices) const override {
    if (xla::ShapeUtil::IsZeroElementArray(matrices)) return inputs;
    const XlaOp ones =
        xla::IdentityMatrix(inputs[0].builder(), matrices.element_type(), Rows(matrices), Rows(matrices));
    const XlaOp right = xla::Broadcast(ones, matrices.dimensions().subspan(0, matrices.dimensions_size() - 2));
    return {Factors(xla::MaybeTransposeInMinorDims(inputs[0], attribute(0)), matrices).Solve(right)};
  }
};

class MatrixSolveLowering final : public LinearAlgebraLowering {
 public:
  explicit MatrixSolveLowering(OpKernelConstruction* construction) : LinearAlgebraLowering(construction, {"adjoint"}) {}

 private:
  Values Body(const Values& inputs, const xla::Shape& matrices) const override {
    if (xla::ShapeUtil::IsZeroElementArray(matrices)) return {inputs[1]};
    return {Factors(xla::MaybeTransposeInMinorDims(inputs[0], attribute(0)), matrices).Solve(inputs[1])};
  }
};

class MatrixDeterminantLowering final : public LinearAlgebraLowering {
 public:
  explicit MatrixDeterminantLowering(OpKernelConstruction* construction) : LinearAlgebraLowering(construction, {}) {}

 private:
  Values Body(const Values& inputs, const xla::Shape& matrices) const override {
    if (Rows(matrices) == 0) return {Fill(inputs[0], matrices, 1)};
    return {Factors(inputs[0], matrices).Product([](XlaOp pivots) { return pivots; })};
  }
};

class LogMatrixDeterminantLowering final : public LinearAlgebraLowering {
 public:
  explicit LogMatrixDeterminantLowering(OpKernelConstruction* construction) : LinearAlgebraLowering(construction, {}) {}

 private:
  Values Body(const Values& inputs, const xla::Shape& matrices) const override {
    if (Rows(matrices) == 0) return {Fill(inputs[0], matrices, 1), Fill(inputs[0], matrices, 0)};
    const Factors factors(inputs[0], matrices);
    return {factors.Product([](XlaOp pivots) { return xla::Sign(pivots); }), factors.LogAbsDeterminant()};
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
    if (xla::ShapeUtil::IsZeroElementArray(matrices)) {
      const LuFactors lu = FactorByElimination(inputs[0], matrices);
      return {lu.factors, lu.order};
    }
    const Factors factors(inputs[0], matrices);
    return {factors.NanIfSingular(factors.lu().factors), factors.lu().order};
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
