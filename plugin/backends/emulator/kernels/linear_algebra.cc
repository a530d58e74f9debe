#include "plugin/backends/emulator/kernels/linear_algebra.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/backends/emulator/kernels/tensorflow_kernel.h"
#include "plugin/base/status_macros.h"

namespace hpu::emulator {
namespace {

using Op = LinearAlgebra::Op;
using Input = TensorFlowKernel::Input;
using Result = TensorFlowKernel::Result;

constexpr char kLinearAlgebraName[] = "linear_algebra.2";
// TensorFlow's names of the ops, indexed by Op.
constexpr absl::string_view kLinearAlgebraOps[] = {"Cholesky",
                                                   "MatrixTriangularSolve",
                                                   "MatrixSolve",
                                                   "MatrixInverse",
                                                   "MatrixDeterminant",
                                                   "LogMatrixDeterminant",
                                                   "Qr",
                                                   "SelfAdjointEigV2",
                                                   "Svd",
                                                   "Lu",
                                                   "TridiagonalSolve"};

absl::StatusOr<LinearAlgebra> ParseLinearAlgebra(absl::Span<const int64_t> parameters) {
  if (parameters.size() != 12 || parameters[0] < 0 ||
      parameters[0] >= static_cast<int64_t>(std::size(kLinearAlgebraOps)) ||
      !std::all_of(parameters.begin() + 1, parameters.begin() + 8, [](int64_t flag) { return flag >> 1 == 0; })) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected 12 parameters: op (index in: ", absl::StrJoin(kLinearAlgebraOps, ", "),
                     "), of_doubles, lower, adjoint, full_matrices, compute_vectors, pivoting and perturbing (each 0 "
                     "or 1), batch, rows, columns and right_sides"));
  }
  const LinearAlgebra parsed{static_cast<Op>(parameters[0]),
                             parameters[1] != 0,
                             parameters[2] != 0,
                             parameters[3] != 0,
                             parameters[4] != 0,
                             parameters[5] != 0,
                             parameters[6] != 0,
                             parameters[7] != 0,
                             parameters[8],
                             parameters[9],
                             parameters[10],
                             parameters[11]};
  HPU_RETURN_IF_ERROR(parsed.Check());
  return parsed;
}

tensorflow::DataType TypeOf(const LinearAlgebra& l) {
  return l.of_doubles ? tensorflow::DT_DOUBLE : tensorflow::DT_FLOAT;
}

tensorflow::NodeDef NodeOf(const LinearAlgebra& l) {
  tensorflow::NodeDef node = PlainNode(std::string(kLinearAlgebraOps[static_cast<int64_t>(l.op)]), TypeOf(l));
  const auto set = [&node](const char* name, bool value) { (*node.mutable_attr())[name].set_b(value); };
  if (l.op == Op::kTriangularSolve) set("lower", l.lower);
  if (l.op == Op::kTriangularSolve || l.op == Op::kSolve || l.op == Op::kInverse) set("adjoint", l.adjoint);
  if (l.op == Op::kQr || l.op == Op::kSvd) set("full_matrices", l.full_matrices);
  if (l.op == Op::kEigen) set("compute_v", l.compute_vectors);
  if (l.op == Op::kSvd) set("compute_uv", l.compute_vectors);
  if (l.op == Op::kTridiagonalSolve) {
    set("partial_pivoting", l.pivoting);
    set("perturb_singular", l.perturbing);
  }
  return node;
}

tensorflow::DataType ResultType(const LinearAlgebra& l, size_t result) {
  return l.op == Op::kLu && result == 1 ? tensorflow::DT_INT32 : TypeOf(l);
}

std::vector<int64_t> Batched(int64_t batch, std::vector<int64_t> shape) {
  shape.insert(shape.begin(), batch);
  return shape;
}

absl::StatusOr<std::unique_ptr<const Kernel>> MakeNative(const LinearAlgebra& l) {
  const auto dtype = TypeOf(l);
  std::vector<Input> inputs = {TensorFlowKernel::Operand(0, dtype, {l.batch, l.rows, l.columns})};
  if (l.Solves()) inputs.push_back(TensorFlowKernel::Operand(1, dtype, {l.batch, l.columns, l.right_sides}));
  std::vector<Result> results;
  for (const std::vector<int64_t>& shape : l.ResultShapes()) {
    results.push_back({ResultType(l, results.size()), Batched(l.batch, shape)});
  }
  return TensorFlowKernel::Make(NodeOf(l), std::move(inputs), std::move(results));
}

int64_t ElementsIn(const std::vector<int64_t>& shape) {
  int64_t elements = 1;
  for (int64_t size : shape) elements *= size;
  return elements;
}

// Runs TensorFlow's kernel on the whole batch. On INVALID_ARGUMENT, runs it again matrix by matrix, so that only the
// matrices that fail become NaN.
class LinearAlgebraKernel final : public Kernel {
 public:
  LinearAlgebraKernel(const LinearAlgebra& op, std::unique_ptr<const Kernel> all, std::unique_ptr<const Kernel> one)
      : op_(op), all_(std::move(all)), one_(std::move(one)) {
    operand_elements_ = {op.rows * op.columns, op.columns * op.right_sides};
    for (const std::vector<int64_t>& shape : op.ResultShapes()) result_elements_.push_back(ElementsIn(shape));
  }

  int results() const override { return all_->results(); }

  absl::Status Run(const KernelCall& call) const override {
    const absl::Status status = all_->Run(call);
    if (!absl::IsInvalidArgument(status)) return status;
    for (int64_t i = 0; i < op_.batch; ++i) HPU_RETURN_IF_ERROR(RunOne(call, i));
    return absl::OkStatus();
  }

 private:
  absl::Status RunOne(const KernelCall& call, int64_t matrix) const {
    const int64_t bytes = op_.of_doubles ? sizeof(double) : sizeof(float);
    std::vector<const void*> operands;
    for (size_t i = 0; i < (op_.Solves() ? 2 : 1); ++i) {
      operands.push_back(static_cast<const char*>(call.operands[i]) + matrix * operand_elements_[i] * bytes);
    }
    std::vector<void*> results;
    for (size_t i = 0; i < result_elements_.size(); ++i) {
      const int64_t result_bytes = result_elements_[i] * tensorflow::DataTypeSize(ResultType(op_, i));
      results.push_back(static_cast<char*>(call.results[i]) + matrix * result_bytes);
    }
    const absl::Status status = one_->Run({operands.data(), results.data(), call.workspace, call.pool});
    if (!absl::IsInvalidArgument(status)) return status;
    for (size_t i = 0; i < results.size(); ++i) FillWithoutResult(results[i], i);
    return absl::OkStatus();
  }

  void FillWithoutResult(void* to, size_t result) const {
    switch (ResultType(op_, result)) {
      case tensorflow::DT_INT32:
        std::fill_n(static_cast<int32_t*>(to), result_elements_[result], 0);
        return;
      case tensorflow::DT_DOUBLE:
        std::fill_n(static_cast<double*>(to), result_elements_[result], std::numeric_limits<double>::quiet_NaN());
        return;
      default:
        std::fill_n(static_cast<float*>(to), result_elements_[result], std::numeric_limits<float>::quiet_NaN());
    }
  }

  const LinearAlgebra op_;
  const std::unique_ptr<const Kernel> all_;
  const std::unique_ptr<const Kernel> one_;
  std::vector<int64_t> operand_elements_;
  std::vector<int64_t> result_elements_;
};

absl::StatusOr<std::unique_ptr<const Kernel>> MakeLinearAlgebra(absl::Span<const int64_t> parameters) {
  HPU_ASSIGN_OR_RETURN(const LinearAlgebra op, ParseLinearAlgebra(parameters));
  HPU_ASSIGN_OR_RETURN(auto all, MakeNative(op));
  LinearAlgebra single = op;
  single.batch = 1;
  HPU_ASSIGN_OR_RETURN(auto one, MakeNative(single));
  return std::make_unique<LinearAlgebraKernel>(op, std::move(all), std::move(one));
}

const bool linear_algebra_registered = RegisterKernel(kLinearAlgebraName, MakeLinearAlgebra);

}  // namespace

std::optional<Op> LinearAlgebra::Named(absl::string_view name) {
  const auto* found = std::find(std::begin(kLinearAlgebraOps), std::end(kLinearAlgebraOps), name);
  if (found == std::end(kLinearAlgebraOps)) return std::nullopt;
  return static_cast<Op>(found - std::begin(kLinearAlgebraOps));
}

absl::Status LinearAlgebra::Check() const {
  const bool square = op != Op::kQr && op != Op::kSvd && op != Op::kTridiagonalSolve;
  if (std::min({batch, rows, columns}) <= 0 || (square && rows != columns) ||
      (op == Op::kTridiagonalSolve && rows != 3) || (Solves() ? right_sides <= 0 : right_sides != 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("invalid sizes for ", kLinearAlgebraOps[static_cast<int64_t>(op)], ": ", batch, " matrices of ",
                     rows, " x ", columns, " with ", right_sides, " right-hand sides; expected positive sizes",
                     square ? ", square matrices" : "", op == Op::kTridiagonalSolve ? ", 3 rows" : "", " and ",
                     Solves() ? "at least one right-hand side" : "no right-hand sides"));
  }
  return absl::OkStatus();
}

std::vector<std::vector<int64_t>> LinearAlgebra::ResultShapes() const {
  const int64_t min = std::min(rows, columns);
  switch (op) {
    case Op::kTriangularSolve:
    case Op::kSolve:
    case Op::kTridiagonalSolve:
      return {{columns, right_sides}};
    case Op::kDeterminant:
      return {{}};
    case Op::kLogDeterminant:
      return {{}, {}};
    case Op::kQr:
      return {{rows, full_matrices ? rows : min}, {full_matrices ? rows : min, columns}};
    case Op::kEigen:
      if (!compute_vectors) return {{rows}};
      return {{rows}, {rows, rows}};
    case Op::kSvd:
      if (!compute_vectors) return {{min}};
      return {{min}, {rows, full_matrices ? rows : min}, {columns, full_matrices ? columns : min}};
    case Op::kLu:
      return {{rows, columns}, {rows}};
    default:
      return {{rows, columns}};
  }
}

KernelSpec LinearAlgebra::Spec() const {
  return {kLinearAlgebraName,
          {static_cast<int64_t>(op), of_doubles, lower, adjoint, full_matrices, compute_vectors, pivoting, perturbing,
           batch, rows, columns, right_sides}};
}

}  // namespace hpu::emulator
