#include "plugin/compiler/lowerings/elimination.h"

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/loops.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using xla::XlaBuilder;
using xla::XlaOp;
using Dims = std::vector<int64_t>;
using Values = std::vector<XlaOp>;

// Runs `body` sequentially. If the loop cannot be built, the program's builder holds the error.
Values Loop(int64_t times, const xla::ForEachIndexBodyFunction& body, const Values& initial, const char* name) {
  XlaBuilder* const builder = initial[0].builder();
  absl::StatusOr<Values> values = xla::ForEachIndex(times, xla::S32, body, initial, name, builder);
  if (values.ok()) return *std::move(values);
  return Values(initial.size(), builder->ReportError(values.status()));
}

// One step of the LU factorisation of matrices [batch, size, size], for one column.
class LuStep {
 public:
  LuStep(XlaOp column, int64_t batch, int64_t size)
      : column_(column),
        builder_(column.builder()),
        batch_(batch),
        size_(size),
        numbers_(xla::Iota(builder_, xla::ShapeUtil::MakeShape(xla::S32, {batch, size}), 1)),
        is_pivot_row_(xla::Eq(numbers_, column)) {}

  Values Run(XlaOp a, XlaOp order) const {
    const XlaOp magnitudes = xla::Abs(ColumnOf(a));
    const XlaOp pivot =
        xla::ArgMax(xla::Select(xla::Ge(numbers_, column_), magnitudes, xla::FullLike(magnitudes, -1)), xla::S32, 1);
    const XlaOp is_source = xla::Eq(numbers_, pivot, {0});
    a = Exchanged(a, {batch_, size_, size_}, is_source);
    order = Exchanged(order, {batch_, size_}, is_source);
    return {Eliminated(a), order};
  }

 private:
  Dims Square() const { return {batch_, size_, size_}; }
  XlaOp ByRow(XlaOp x) const { return xla::BroadcastInDim(x, Square(), {0, 1}); }
  XlaOp ByColumn(XlaOp x) const { return xla::BroadcastInDim(x, Square(), {0, 2}); }

  XlaOp ColumnOf(XlaOp a) const {
    const XlaOp zero = xla::ConstantR0<int32_t>(builder_, 0);
    return xla::Reshape(xla::DynamicSlice(a, {zero, zero, column_}, {batch_, size_, 1}), {batch_, size_});
  }

  // The row of x [batch, size, ...] where `is_row` [batch, size] is true.
  XlaOp RowOf(XlaOp x, const Dims& dims, XlaOp is_row) const {
    const xla::PrimitiveType type = builder_->GetShape(x)->element_type();
    return xla::Reduce(xla::Select(xla::BroadcastInDim(is_row, dims, {0, 1}), x, xla::ZerosLike(x)),
                       xla::Zero(builder_, type), xla::CreateScalarAddComputation(type, builder_), {1});
  }

  // x [batch, size, ...] with this step's row and the other row exchanged.
  XlaOp Exchanged(XlaOp x, const Dims& dims, XlaOp is_other) const {
    Dims kept = {0};
    for (size_t i = 2; i < dims.size(); ++i) kept.push_back(i);
    const auto in_all_rows = [&](XlaOp row) { return xla::BroadcastInDim(row, dims, kept); };
    const auto at = [&](XlaOp mask) { return xla::BroadcastInDim(mask, dims, {0, 1}); };
    return xla::Select(at(is_pivot_row_), in_all_rows(RowOf(x, dims, is_other)),
                       xla::Select(at(is_other), in_all_rows(RowOf(x, dims, is_pivot_row_)), x));
  }

  XlaOp Eliminated(XlaOp a) const {
    const XlaOp row = RowOf(a, Square(), is_pivot_row_), below = xla::Gt(numbers_, column_);
    const XlaOp column = ColumnOf(a), zeros = xla::ZerosLike(row);
    const XlaOp pivot = RowOf(row, {batch_, size_}, is_pivot_row_);
    const XlaOp divisor = xla::Select(xla::Eq(pivot, xla::ZerosLike(pivot)), xla::FullLike(pivot, 1), pivot);
    const XlaOp factors = xla::Select(below, xla::Div(column, divisor, {0}), column);
    const XlaOp left =
        xla::Sub(a, xla::Mul(ByRow(xla::Select(below, factors, zeros)), ByColumn(xla::Select(below, row, zeros))));
    return xla::Select(ByColumn(is_pivot_row_), ByRow(factors), left);
  }

  const XlaOp column_;
  XlaBuilder* const builder_;
  const int64_t batch_;
  const int64_t size_;
  const XlaOp numbers_;  // row or column indices
  const XlaOp is_pivot_row_;
};

// Row `row` of an array [rows, ...].
XlaOp RowAt(XlaOp x, XlaOp row) {
  const xla::Shape shape = x.builder()->GetShape(x).value();
  Dims sizes(shape.dimensions().begin(), shape.dimensions().end());
  sizes[0] = 1;
  std::vector<XlaOp> starts(sizes.size(), xla::ZerosLike(row));
  starts[0] = row;
  return xla::DynamicSlice(x, starts, sizes);
}

XlaOp WithRow(XlaOp x, XlaOp values, XlaOp row) {
  std::vector<XlaOp> starts(x.builder()->GetShape(x)->dimensions_size(), xla::ZerosLike(row));
  starts[0] = row;
  return xla::DynamicUpdateSlice(x, values, starts);
}

// Equations [n, batch] with up to three unknowns each, starting at the diagonal.
struct Equations {
  explicit Equations(absl::Span<const XlaOp> v) : diagonal(v[0]), first(v[1]), second(v[2]), right(v[3]) {}

  Values values() const { return {diagonal, first, second, right}; }

  XlaOp diagonal, first, second;
  XlaOp right;  // [n, batch, k]
};

XlaOp Times(XlaOp right, XlaOp factor) { return xla::Mul(right, factor, {0, 1}); }

// Eliminates the unknown of row i from row i + 1, where the unknown's coefficient is row i + 1 of `lower` [n, batch].
Values Eliminate(XlaOp i, Equations e, XlaOp lower, bool pivoting) {
  const XlaOp next = i + xla::ScalarLike(i, 1);
  const XlaOp d = RowAt(e.diagonal, i), u = RowAt(e.first, i), r = RowAt(e.right, i);
  const XlaOp l = RowAt(lower, next), next_d = RowAt(e.diagonal, next), next_u = RowAt(e.first, next);
  const XlaOp next_r = RowAt(e.right, next);
  const XlaOp exchange = xla::Lt(xla::Abs(d), pivoting ? xla::Abs(l) : xla::ZerosLike(l));
  const xla::Shape right_shape = r.builder()->GetShape(r).value();
  const XlaOp exchange_right = xla::BroadcastInDim(exchange, right_shape.dimensions(), {0, 1});
  const XlaOp factor = xla::Select(exchange, d / l, l / d);
  e.diagonal = WithRow(e.diagonal, xla::Select(exchange, l, d), i);
  e.first = WithRow(e.first, xla::Select(exchange, next_d, u), i);
  e.second = WithRow(e.second, xla::Select(exchange, next_u, xla::ZerosLike(u)), i);
  e.right = WithRow(e.right, xla::Select(exchange_right, next_r, r), i);
  e.diagonal = WithRow(e.diagonal, xla::Select(exchange, u - factor * next_d, next_d - factor * u), next);
  e.first = WithRow(e.first, xla::Select(exchange, xla::Neg(factor * next_u), next_u), next);
  e.right = WithRow(e.right, xla::Select(exchange_right, r - Times(next_r, factor), next_r - Times(r, factor)), next);
  return e.values();
}

// Computes the unknown of row i from the next two unknowns. The unknowns are [n + 2, batch, k]; the last two are 0.
XlaOp Substitute(XlaOp i, const Equations& e, XlaOp x) {
  const XlaOp one = xla::ScalarLike(i, 1), next = i + one;
  const XlaOp rest =
      RowAt(e.right, i) - Times(RowAt(x, next), RowAt(e.first, i)) - Times(RowAt(x, next + one), RowAt(e.second, i));
  return WithRow(x, xla::Div(rest, RowAt(e.diagonal, i), {0, 1}), i);
}

}  // namespace

LuFactors FactorByElimination(XlaOp matrices, const xla::Shape& shape) {
  const Dims dims(shape.dimensions().begin(), shape.dimensions().end());
  const Dims rows(dims.begin(), dims.end() - 1);
  const int64_t size = dims.back();
  if (xla::ShapeUtil::IsZeroElementArray(shape)) {
    return {matrices, xla::Broadcast(xla::ConstantR0<int32_t>(matrices.builder(), 0), rows)};
  }
  const int64_t batch = xla::ShapeUtil::ElementsIn(shape) / (size * size);
  const XlaOp order = xla::Iota(matrices.builder(), xla::ShapeUtil::MakeShape(xla::S32, {batch, size}), 1);
  const auto step = [&](XlaOp column, absl::Span<const XlaOp> values, XlaBuilder*) -> absl::StatusOr<Values> {
    return LuStep(column, batch, size).Run(values[0], values[1]);
  };
  const Values made = Loop(size, step, {xla::Reshape(matrices, {batch, size, size}), order}, "lu");
  return {xla::Reshape(made[0], dims), xla::Reshape(made[1], rows)};
}

XlaOp SolveTridiagonal(XlaOp diagonals, XlaOp right, const xla::Shape& right_shape, bool pivoting) {
  if (xla::ShapeUtil::IsZeroElementArray(right_shape)) return right;
  const Dims dims(right_shape.dimensions().begin(), right_shape.dimensions().end());
  const int64_t rows = dims[dims.size() - 2], columns = dims.back();
  const int64_t batch = xla::ShapeUtil::ElementsIn(right_shape) / (rows * columns);
  const XlaOp by_row = xla::Transpose(xla::Reshape(diagonals, {batch, 3, rows}), {1, 2, 0});
  const auto diagonal = [&](int64_t i) { return xla::Reshape(xla::SliceInDim(by_row, i, i + 1, 1, 0), {rows, batch}); };
  const XlaOp zero = xla::ScalarLike(right, 0);
  // The upper diagonal's last element is unused.
  const XlaOp upper = xla::PadInDim(xla::SliceInDim(diagonal(0), 0, rows - 1, 1, 0), zero, 0, 0, 1);
  const XlaOp moved = xla::Transpose(xla::Reshape(right, {batch, rows, columns}), {1, 0, 2});
  const auto forward = [&](XlaOp i, absl::Span<const XlaOp> values, XlaBuilder*) -> absl::StatusOr<Values> {
    Values next = Eliminate(i, Equations(values), values[4], pivoting);
    next.push_back(values[4]);
    return next;
  };
  Values values =
      Loop(rows - 1, forward, {diagonal(1), upper, xla::ZerosLike(upper), moved, diagonal(2)}, "elimination");
  values.back() = xla::Broadcast(zero, {rows + 2, batch, columns});
  const auto backward = [&](XlaOp i, absl::Span<const XlaOp> values, XlaBuilder*) -> absl::StatusOr<Values> {
    const Equations equations(values);
    Values next = equations.values();
    next.push_back(Substitute(xla::ScalarLike(i, rows - 1) - i, equations, values[4]));
    return next;
  };
  const XlaOp solved = xla::SliceInDim(Loop(rows, backward, values, "substitution")[4], 0, rows, 1, 0);
  return xla::Reshape(xla::Transpose(solved, {1, 0, 2}), dims);
}

}  // namespace hpu
