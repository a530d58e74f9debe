// Tests of linear algebra against XLA.
#include "plugin/backends/emulator/hlo_passes/linear_algebra_pass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "plugin/backends/emulator/kernels/compiler_target.h"
#include "plugin/backends/emulator/kernels/linear_algebra.h"
#include "plugin/program/marked_call.h"
#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/matrix.h"
#include "xla/hlo/builder/lib/qr.h"
#include "xla/hlo/builder/lib/self_adjoint_eig.h"
#include "xla/hlo/builder/lib/svd.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/literal_util.h"

namespace hpu::emulator {
namespace linear_algebra_pass_test {

using xla::XlaOp;
using Values = std::vector<XlaOp>;
using Body = std::function<Values(const Values&)>;
using Dims = std::vector<int64_t>;

Dims Matrices(Dims batch, int64_t rows, int64_t columns) {
  batch.insert(batch.end(), {rows, columns});
  return batch;
}

// Results of a marked call. `text` is the operation with its attributes; `make` builds the called computation.
Values Call(const std::string& text, const Values& operands, const Body& make) {
  xla::XlaBuilder* const builder = operands[0].builder();
  const auto body = builder->CreateSubBuilder("body");
  Values parameters;
  for (size_t i = 0; i < operands.size(); ++i) {
    parameters.push_back(
        xla::Parameter(body.get(), i, builder->GetShape(operands[i]).value(), "p" + std::to_string(i)));
  }
  const Values results = make(parameters);
  const xla::XlaComputation computation =
      body->Build(results.size() == 1 ? results[0] : xla::Tuple(body.get(), results)).value();
  xla::FrontendAttributes attributes;
  (*attributes.mutable_map())[kOperationAttribute] = absl::StrCat(kLinearAlgebra, " ", text);
  const xla::XlaScopedFrontendAttributesAssignment scope(builder, attributes);
  const XlaOp call = xla::Call(builder, computation, operands);
  if (results.size() == 1) return {call};
  Values made;
  for (size_t i = 0; i < results.size(); ++i) made.push_back(xla::GetTupleElement(call, i));
  return made;
}

// A program that converts its float32 parameters to `type` and applies `make`. Its result is the concatenated elements
// of all results of `make`, in float32.
xla::XlaComputation Program(const std::vector<Dims>& shapes, xla::PrimitiveType type, const Body& make) {
  xla::XlaBuilder builder("program");
  Values parameters;
  for (size_t i = 0; i < shapes.size(); ++i) {
    parameters.push_back(xla::ConvertElementType(
        xla::Parameter(&builder, i, xla::ShapeUtil::MakeShape(xla::F32, shapes[i]), "p" + std::to_string(i)), type));
  }
  Values flat;
  for (const XlaOp result : make(parameters)) {
    flat.push_back(xla::Reshape(xla::ConvertElementType(result, xla::F32),
                                {xla::ShapeUtil::ElementsIn(builder.GetShape(result).value())}));
  }
  xla::Tuple(&builder, {xla::ConcatInDim(&builder, flat, 0)});
  return builder.Build().value();
}

XlaOp Identity(XlaOp like, int64_t size) {
  xla::XlaBuilder* const builder = like.builder();
  return xla::IdentityMatrix(builder, builder->GetShape(like)->element_type(), size, size);
}

XlaOp Product(XlaOp a, XlaOp b) { return xla::BatchDot(a, b, xla::PrecisionConfig::HIGHEST); }

// x·xᵀ + size: symmetric and far from singular.
XlaOp Positive(XlaOp x, int64_t size) {
  const int64_t rank = x.builder()->GetShape(x)->dimensions_size();
  return xla::Add(Product(x, xla::TransposeInMinorDims(x)), Identity(x, size) * xla::ScalarLike(x, size),
                  {rank - 2, rank - 1});
}

// x + 2·size: neither singular nor symmetric, by a wide margin.
XlaOp Dominant(XlaOp x, int64_t size) {
  const int64_t rank = x.builder()->GetShape(x)->dimensions_size();
  return xla::Add(x, Identity(x, size) * xla::ScalarLike(x, 2 * size), {rank - 2, rank - 1});
}

XlaOp InverseOf(XlaOp a, bool adjoint) {
  XlaOp q, r;
  xla::QrExplicit(xla::MaybeTransposeInMinorDims(a, adjoint), false, q, r);
  return xla::TriangularSolve(r, xla::TransposeInMinorDims(q), true, false, false,
                              xla::TriangularSolveOptions::NO_TRANSPOSE);
}

struct RandomCase {
  explicit RandomCase(uint32_t seed) : dice(seed) {
    type = dice.Roll(0, 3) == 0 ? xla::F64 : xla::F32;
    for (int64_t i = dice.Roll(0, 2); i > 0; --i) batch.push_back(dice.Roll(1, 4));
    size = dice.Roll(0, 3) == 0 ? dice.Roll(1, 2) : dice.Roll(1, 40);
    other = dice.Roll(1, 12);
    flag = dice.Roll(0, 1) != 0;
    second_flag = dice.Roll(0, 1) != 0;
  }
  Dice dice;
  xla::PrimitiveType type;
  Dims batch;
  int64_t size;
  int64_t other;
  bool flag;
  bool second_flag;
};

void ExpectSame(const RandomCase& c, const std::vector<Dims>& shapes, const Body& make, size_t kernels = 1) {
  const xla::XlaComputation computation = Program(shapes, c.type, make);
  EXPECT_EQ(CountKernels(computation, "linear_algebra.2"), IsTargetGeneric() ? 0 : kernels);
  ExpectSameAsXla(computation, ArgumentsOf(computation), 1e-4);
}

TEST(LinearAlgebraPass, CholeskyFactors) {
  for (uint32_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    const RandomCase c(seed);
    ExpectSame(c, {Matrices(c.batch, c.size, c.size)}, [&](const Values& p) -> Values {
      return {xla::Triangle(xla::Cholesky(Positive(p[0], c.size), /*lower=*/true), /*lower=*/true)};
    });
  }
}

TEST(LinearAlgebraPass, TriangularSolving) {
  for (uint32_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    const RandomCase c(seed);
    const auto transposed =
        c.second_flag ? xla::TriangularSolveOptions::ADJOINT : xla::TriangularSolveOptions::NO_TRANSPOSE;
    // The other triangle is not read.
    ExpectSame(c, {Matrices(c.batch, c.size, c.size), Matrices(c.batch, c.size, c.other)},
               [&](const Values& p) -> Values {
                 return {xla::TriangularSolve(Dominant(p[0], c.size), p[1], /*left_side=*/true, c.flag,
                                              /*unit_diagonal=*/false, transposed)};
               });
  }
}

TEST(LinearAlgebraPass, InversesAndSolutions) {
  for (uint32_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    const RandomCase c(seed);
    const std::string adjoint = c.flag ? " adjoint" : "";
    ExpectSame(
        c, {Matrices(c.batch, c.size, c.size), Matrices(c.batch, c.size, c.other)},
        [&](const Values& p) -> Values {
          const XlaOp a = Dominant(p[0], c.size);
          return {Call("MatrixInverse" + adjoint, {a},
                       [&](const Values& q) -> Values { return {InverseOf(q[0], c.flag)}; })[0],
                  Call("MatrixSolve" + adjoint, {a, p[1]},
                       [&](const Values& q) -> Values { return {Product(InverseOf(q[0], c.flag), q[1])}; })[0]};
        },
        2);
  }
}

TEST(LinearAlgebraPass, QrFactors) {
  for (uint32_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    const RandomCase c(seed);
    // Without full_matrices, because the additional columns of q are not unique.
    ExpectSame(c, {Matrices(c.batch, c.size, c.size)}, [&](const Values& p) -> Values {
      return Call("Qr", {Dominant(p[0], c.size)}, [](const Values& q) -> Values {
        XlaOp orthogonal, triangular;
        xla::QrExplicit(q[0], false, orthogonal, triangular);
        return {orthogonal, triangular};
      });
    });
    ExpectSame(c, {Matrices(c.batch, c.size, c.other)}, [&](const Values& p) -> Values {
      const Values made = Call("Qr full_matrices", p, [](const Values& q) -> Values {
        XlaOp orthogonal, triangular;
        xla::QrExplicit(q[0], true, orthogonal, triangular);
        return {orthogonal, triangular};
      });
      return {Product(made[0], made[1]), Product(xla::TransposeInMinorDims(made[0]), made[0])};
    });
  }
}

// Eigenvectors may have the other sign, so their products are compared.
TEST(LinearAlgebraPass, Eigenvalues) {
  if (IsTargetGeneric())
    GTEST_SKIP() << "HPU_EMULATOR_TARGET=generic disables the kernel, and XLA's code ends the process";
  for (uint32_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    RandomCase c(seed);
    c.size = std::min<int64_t>(c.size, 12);
    const int64_t rank = c.batch.size() + 2;
    Dims rows(c.batch.size());
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = i;
    rows.push_back(rank - 1);
    ExpectSame(c, {Matrices(c.batch, c.size, c.size)}, [&](const Values& p) -> Values {
      const Values made = Call("SelfAdjointEigV2 compute_v", {Positive(p[0], c.size)}, [](const Values& q) -> Values {
        const auto eigen = xla::SelfAdjointEig(q[0], true, 30, 1e-7);
        return {eigen.w, eigen.v};
      });
      return {made[0], Product(xla::Mul(made[1], made[0], rows), xla::TransposeInMinorDims(made[1]))};
    });
  }
}

TEST(LinearAlgebraPass, SingularValues) {
  if (IsTargetGeneric())
    GTEST_SKIP() << "HPU_EMULATOR_TARGET=generic disables the kernel, and XLA's code ends the process";
  for (uint32_t seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(seed);
    RandomCase c(seed);
    c.size = std::min<int64_t>(c.size, 12);
    ExpectSame(c, {Matrices(c.batch, c.size, c.other)}, [&](const Values& p) -> Values {
      return Call("Svd", p, [](const Values& q) -> Values { return {xla::SVD(q[0], 30, 1e-7).d}; });
    });
  }
}

// Zeros of the results' shapes: the body of a marked call that only the kernel computes correctly.
Values ZerosOf(const Values& like, const std::vector<xla::Shape>& shapes) {
  Values zeros;
  for (const xla::Shape& shape : shapes) zeros.push_back(xla::Zeros(like[0].builder(), shape));
  return zeros;
}

TEST(LinearAlgebraPass, FactorsByElimination) {
  if (IsTargetGeneric()) GTEST_SKIP() << "HPU_EMULATOR_TARGET=generic disables the kernel";
  for (uint32_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    const RandomCase c(seed);
    const int64_t n = c.size;
    const xla::XlaComputation computation = Program({{3, n, n}}, c.type, [&](const Values& p) {
      return Call("Lu", p, [&](const Values& q) {
        return ZerosOf(q, {xla::ShapeUtil::MakeShape(c.type, {3, n, n}), xla::ShapeUtil::MakeShape(xla::S32, {3, n})});
      });
    });
    const std::vector<xla::Literal> arguments = ArgumentsOf(computation);
    const auto x = arguments[0].data<float>();
    const auto lu = ElementsOf<float>(ResultOf(computation, arguments));
    ASSERT_EQ(lu.size(), 3 * n * n + 3 * n);
    for (int64_t matrix = 0; matrix < 3; ++matrix) {
      for (int64_t i = 0; i < n; ++i) {
        const auto row = static_cast<int64_t>(lu[3 * n * n + matrix * n + i]);
        for (int64_t j = 0; j < n; ++j) {
          double product = i <= j ? lu[(matrix * n + i) * n + j] : 0;
          for (int64_t k = 0; k < std::min(i, j + 1); ++k) {
            product += static_cast<double>(lu[(matrix * n + i) * n + k]) * lu[(matrix * n + k) * n + j];
          }
          EXPECT_NEAR(product, x[(matrix * n + row) * n + j], 1e-5);
        }
      }
    }
  }
}

TEST(LinearAlgebraPass, TridiagonalSolving) {
  if (IsTargetGeneric()) GTEST_SKIP() << "HPU_EMULATOR_TARGET=generic disables the kernel";
  for (uint32_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    const RandomCase c(seed);
    const int64_t n = c.size, k = c.other;
    const std::string text = c.flag ? "TridiagonalSolve partial_pivoting" : "TridiagonalSolve";
    const xla::XlaComputation computation = Program({{2, 3, n}, {2, n, k}}, c.type, [&](const Values& p) {
      return Call(text, p, [&](const Values& q) { return ZerosOf(q, {xla::ShapeUtil::MakeShape(c.type, {2, n, k})}); });
    });
    std::vector<xla::Literal> arguments = ArgumentsOf(computation);
    const auto a = arguments[0].data<float>(), right = arguments[1].data<float>();
    for (int64_t i = 0; i < 2 * n; ++i) a[(i / n * 3 + 1) * n + i % n] += 3;
    const auto x = ElementsOf<float>(ResultOf(computation, arguments));
    ASSERT_EQ(x.size(), 2 * n * k);
    for (int64_t i = 0; i < 2 * n; ++i) {
      const float* const diagonals = &a[i / n * 3 * n + i % n];
      for (int64_t j = 0; j < k; ++j) {
        double product = diagonals[n] * x[i * k + j];
        if (i % n + 1 < n) product += diagonals[0] * x[(i + 1) * k + j];
        if (i % n > 0) product += diagonals[2 * n] * x[(i - 1) * k + j];
        EXPECT_NEAR(product, right[i * k + j], 1e-5);
      }
    }
  }
}

// One matrix of three is not positive definite. The results of the two other matrices are not affected.
TEST(LinearAlgebraPass, ReturnsNanForIndefiniteMatrices) {
  const xla::XlaComputation computation = Program({{3, 2, 2}}, xla::F32, [](const Values& p) -> Values {
    return {xla::Triangle(xla::Cholesky(p[0], true), true)};
  });
  std::vector<xla::Literal> arguments;
  arguments.push_back(xla::LiteralUtil::CreateR3<float>({{{4, 9}, {2, 5}}, {{1, 0}, {2, 1}}, {{9, 0}, {3, 2}}}));
  const auto got = ElementsOf<float>(ResultOf(computation, arguments));
  ASSERT_EQ(got.size(), 12);
  EXPECT_EQ(std::vector<float>(got.begin(), got.begin() + 4), (std::vector<float>{2, 0, 1, 2}));
  EXPECT_TRUE(std::isnan(got[4]) && std::isnan(got[6]) && std::isnan(got[7]));
  EXPECT_EQ(std::vector<float>(got.begin() + 8, got.end()), (std::vector<float>{3, 0, 1, 1}));
}

TEST(LinearAlgebraPass, OfOneElement) {
  const xla::XlaComputation computation = Program({{1, 1}, {1, 1}}, xla::F32, [](const Values& p) -> Values {
    const auto inverse = [](const Values& q) -> Values { return {InverseOf(q[0], false)}; };
    return {xla::Cholesky(p[0], true), Call("MatrixInverse", {p[0]}, inverse)[0],
            xla::TriangularSolve(p[0], p[1], true, true, false, xla::TriangularSolveOptions::NO_TRANSPOSE)};
  });
  EXPECT_EQ(CountKernels(computation, "linear_algebra.2"), IsTargetGeneric() ? 0 : 3);
  std::vector<xla::Literal> arguments;
  for (const float number : {4.0f, 3.0f}) arguments.push_back(xla::LiteralUtil::CreateR2<float>({{number}}));
  const auto got = ElementsOf<float>(ResultOf(computation, arguments));
  EXPECT_EQ(got, (std::vector<float>{2, 0.25f, 0.75f}));
  ExpectSameAsXla(computation, arguments, 1e-6);
}

TEST(LinearAlgebraPass, LeavesUnsupportedUnchanged) {
  const auto cholesky = [](const Values& p) -> Values { return {xla::Cholesky(p[0], true)}; };
  EXPECT_EQ(KernelsOf(Program({{0, 3, 3}}, xla::F32, cholesky)).size(), 0) << "no matrices";
  EXPECT_EQ(KernelsOf(Program({{3, 0, 0}}, xla::F32, cholesky)).size(), 0) << "no elements";
  EXPECT_EQ(
      KernelsOf(Program({{3, 3}}, xla::F32, [](const Values& p) -> Values { return {xla::Cholesky(p[0], false)}; }))
          .size(),
      0)
      << "an upper Cholesky factor";
  EXPECT_EQ(KernelsOf(Program({{3, 3}}, xla::F32,
                              [](const Values& p) -> Values {
                                return {xla::TriangularSolve(p[0], p[0], false, true, false,
                                                             xla::TriangularSolveOptions::NO_TRANSPOSE)};
                              }))
                .size(),
            0)
      << "a solve from the right";
  EXPECT_EQ(KernelsOf(Program({{3, 3}}, xla::F32,
                              [](const Values& p) -> Values {
                                return Call("SomethingElse", p,
                                            [](const Values& q) -> Values { return {q[0] + q[0]}; });
                              }))
                .size(),
            0)
      << "an unknown op";
}

TEST(LinearAlgebraPass, RefusesOtherParameters) {
  for (const std::vector<int64_t>& parameters : {std::vector<int64_t>{},
                                                 {11, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 0},
                                                 {0, 2, 0, 0, 0, 0, 0, 0, 1, 2, 2, 0},
                                                 {0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0},
                                                 {0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 0},
                                                 {1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 0},
                                                 {0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 1},
                                                 {9, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0},
                                                 {10, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 1},
                                                 {10, 0, 0, 0, 0, 0, 0, 0, 1, 3, 3, 0}}) {
    EXPECT_EQ(MakeKernel({"linear_algebra.2", parameters}).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace linear_algebra_pass_test
}  // namespace hpu::emulator
