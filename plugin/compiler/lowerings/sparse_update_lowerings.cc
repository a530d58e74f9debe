// Lowerings of sparse optimizer updates (ResourceSparseApply...), which tf2xla lacks. These ops update rows of
// variables, for example of embeddings. The CPU kernels of Ftrl and ProximalAdagrad fail for some values of the
// numbers, such as a negative learning rate, so these ops have no lowerings, and neither have FtrlV2 and AdagradDA.
//
// A loop over the indices updates one row after the other, because an index may occur several times, and each
// occurrence updates the row. XLA updates the variables in place.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/loops.h"
#include "xla/hlo/builder/lib/math.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu {
namespace {

using xla::XlaOp;
using Rows = std::vector<XlaOp>;

// Operands of an update. `rows` are the rows of the variables, in the order of the op's inputs.
struct RowUpdate {
  Rows rows;
  XlaOp gradient;
  Rows numbers;  // the op's scalar inputs, in the order of SparseRule::numbers
  bool flag;     // value of the attribute SparseRule::flag
};

struct SparseRule {
  const char* op;
  int variables;
  std::vector<const char*> numbers;  // names of the scalar inputs
  const char* flag;                  // name of a boolean attribute; null: none
  bool needs_columns;                // whether the op refuses rows without elements
  void (*update)(RowUpdate* update);
};

XlaOp Squared(XlaOp x) { return x * x; }
XlaOp OneMinus(XlaOp x) { return xla::ScalarLike(x, 1) - x; }

void UpdateAdadelta(RowUpdate* u) {
  const XlaOp lr = u->numbers[0], rho = u->numbers[1], epsilon = u->numbers[2];
  u->rows[1] = u->rows[1] * rho + Squared(u->gradient) * OneMinus(rho);
  const XlaOp update = xla::Sqrt(u->rows[2] + epsilon) * xla::Rsqrt(u->rows[1] + epsilon) * u->gradient;
  u->rows[0] = u->rows[0] - update * lr;
  u->rows[2] = u->rows[2] * rho + Squared(update) * OneMinus(rho);
}

void UpdateAdagrad(RowUpdate* u) {
  if (u->flag) u->rows[1] = u->rows[1] + Squared(u->gradient);
  u->rows[0] = u->rows[0] - u->numbers[0] * u->gradient * xla::Rsqrt(u->rows[1]);
}

void UpdateAdagradV2(RowUpdate* u) {
  if (u->flag) u->rows[1] = u->rows[1] + Squared(u->gradient);
  u->rows[0] = u->rows[0] - u->numbers[0] * u->gradient / (xla::Sqrt(u->rows[1]) + u->numbers[1]);
}

void UpdateMomentum(RowUpdate* u) {
  const XlaOp lr = u->numbers[0], momentum = u->numbers[1];
  u->rows[1] = u->rows[1] * momentum + u->gradient;
  const XlaOp step = u->flag ? lr * u->gradient + lr * momentum * u->rows[1] : lr * u->rows[1];
  u->rows[0] = u->rows[0] - step;
}

void UpdateKerasMomentum(RowUpdate* u) {
  const XlaOp lr = u->numbers[0], momentum = u->numbers[1];
  u->rows[1] = u->rows[1] * momentum - u->gradient * lr;
  u->rows[0] = u->rows[0] + (u->flag ? u->rows[1] * momentum - u->gradient * lr : u->rows[1]);
}

void UpdateRmsProp(RowUpdate* u) {
  const XlaOp lr = u->numbers[0], rho = u->numbers[1], momentum = u->numbers[2], epsilon = u->numbers[3];
  u->rows[1] = u->rows[1] * rho + Squared(u->gradient) * OneMinus(rho);
  u->rows[2] = u->rows[2] * momentum + xla::Rsqrt(u->rows[1] + epsilon) * lr * u->gradient;
  u->rows[0] = u->rows[0] - u->rows[2];
}

// Rows: variable, mean of gradients, mean of squares, momentum.
void UpdateCenteredRmsProp(RowUpdate* u) {
  const XlaOp lr = u->numbers[0], rho = u->numbers[1], momentum = u->numbers[2], epsilon = u->numbers[3];
  u->rows[2] = u->rows[2] * rho + Squared(u->gradient) * OneMinus(rho);
  u->rows[1] = u->rows[1] * rho + u->gradient * OneMinus(rho);
  const XlaOp variance = u->rows[2] + epsilon - Squared(u->rows[1]);
  u->rows[3] = u->rows[3] * momentum + xla::Rsqrt(variance) * lr * u->gradient;
  u->rows[0] = u->rows[0] - u->rows[3];
}

// Step along the gradient, then shrinking by the regularization strengths l1 and l2.
void UpdateProximalGradientDescent(RowUpdate* u) {
  const XlaOp lr = u->numbers[0], l1 = u->numbers[1], l2 = u->numbers[2], zero = xla::ScalarLike(l1, 0);
  const XlaOp next = u->rows[0] - u->gradient * lr;
  const XlaOp shrunk = xla::Sign(next) * xla::Max(xla::Abs(next) - lr * l1, zero);
  u->rows[0] = xla::Select(xla::Gt(l1, zero), shrunk, next) / (xla::ScalarLike(lr, 1) + l2 * lr);
}

const std::vector<SparseRule>& SparseRules() {
  static const auto* const rules = new std::vector<SparseRule>{
      {"ResourceSparseApplyAdadelta", 3, {"lr", "rho", "epsilon"}, nullptr, false, UpdateAdadelta},
      {"ResourceSparseApplyAdagrad", 2, {"lr"}, "update_slots", true, UpdateAdagrad},
      {"ResourceSparseApplyAdagradV2", 2, {"lr", "epsilon"}, "update_slots", true, UpdateAdagradV2},
      {"ResourceSparseApplyCenteredRMSProp",
       4,
       {"lr", "rho", "momentum", "epsilon"},
       nullptr,
       false,
       UpdateCenteredRmsProp},
      {"ResourceSparseApplyKerasMomentum", 2, {"lr", "momentum"}, "use_nesterov", false, UpdateKerasMomentum},
      {"ResourceSparseApplyMomentum", 2, {"lr", "momentum"}, "use_nesterov", false, UpdateMomentum},
      {"ResourceSparseApplyProximalGradientDescent",
       1,
       {"alpha", "l1", "l2"},
       nullptr,
       true,
       UpdateProximalGradientDescent},
      {"ResourceSparseApplyRMSProp", 3, {"lr", "rho", "momentum", "epsilon"}, nullptr, false, UpdateRmsProp},
  };
  return *rules;
}

class SparseUpdateLowering : public tensorflow::XlaOpKernel {
 public:
  explicit SparseUpdateLowering(tensorflow::OpKernelConstruction* construction)
      : XlaOpKernel(construction),
        rule_(*absl::c_find_if(SparseRules(), [&](const SparseRule& rule) { return type_string() == rule.op; })) {
    OP_REQUIRES_OK(construction, construction->GetAttr("T", &type_));
    if (rule_.flag != nullptr) OP_REQUIRES_OK(construction, construction->GetAttr(rule_.flag, &flag_));
  }

  void Compile(tensorflow::XlaOpKernelContext* context) override {
    Rows state(rule_.variables);
    tensorflow::TensorShape shape;
    for (int i = 0; i < rule_.variables; ++i) {
      tensorflow::TensorShape other;
      OP_REQUIRES_OK(context, context->ReadVariableInput(i, type_, &other, &state[i]));
      if (i == 0) shape = other;
      OP_REQUIRES(context, other == shape,
                  absl::InvalidArgumentError(absl::StrCat(type_string(), ": the variables must have the same shape, ",
                                                          "got ", shape.DebugString(), " and ", other.DebugString())));
    }
    const tensorflow::TensorShape gradients = context->InputShape("grad"), indices = context->InputShape("indices");
    tensorflow::TensorShape expected = shape;
    if (shape.dims() > 0 && indices.dims() == 1) expected.set_dim(0, indices.dim_size(0));
    OP_REQUIRES(context, shape.dims() > 0 && indices.dims() == 1 && gradients == expected,
                absl::InvalidArgumentError(absl::StrCat(
                    type_string(), ": indices must be a vector, and grad must have the shape of the variable with one ",
                    "row for each index; got variable ", shape.DebugString(), ", indices ", indices.DebugString(),
                    ", grad ", gradients.DebugString())));
    for (const char* name : rule_.numbers) {
      const tensorflow::TensorShape number = context->InputShape(name);
      OP_REQUIRES(context, number.dims() == 0,
                  absl::InvalidArgumentError(
                      absl::StrCat(type_string(), ": ", name, " must be a scalar, got ", number.DebugString())));
    }
    int64_t columns = 1;
    for (int i = 1; i < shape.dims(); ++i) columns *= shape.dim_size(i);
    OP_REQUIRES(context, columns > 0 || !rule_.needs_columns,
                absl::InvalidArgumentError(
                    absl::StrCat(type_string(), ": rows of the variable have no elements: ", shape.DebugString())));
    if (gradients.num_elements() == 0) return;

    state.insert(state.end(), {Padded(context->Input("grad")), Padded(context->Input("indices"))});
    for (const char* name : rule_.numbers) state.push_back(context->Input(name));
    const absl::StatusOr<Rows> updated =
        UpdateRows({context->Input("indices"), context->Input("grad")}, indices.dim_size(0), state, shape);
    OP_REQUIRES_OK(context, updated.status());
    for (int i = 0; i < rule_.variables; ++i) {
      OP_REQUIRES_OK(context, context->AssignVariable(i, type_, (*updated)[i]));
    }
  }

 private:
  // An array whose first dimension has its bound as its size, for example after tf.unique.
  static XlaOp Padded(XlaOp array) {
    const absl::StatusOr<xla::Shape> shape = array.builder()->GetShape(array);
    return shape.ok() && shape->is_dynamic_dimension(0) ? xla::RemoveDynamicDimension(array, 0) : array;
  }

  // Updates the rows for all of at most `bound` indices. Padding beyond the size of one of `arrays`, the indices and
  // the gradients, updates nothing.
  absl::StatusOr<Rows> UpdateRows(const Rows& arrays, int64_t bound, const Rows& state,
                                  const tensorflow::TensorShape& shape) const {
    xla::XlaBuilder* const builder = arrays[0].builder();
    XlaOp count = xla::ConstantR0<int32_t>(builder, static_cast<int32_t>(bound));
    bool is_static = true;
    for (const XlaOp array : arrays) {
      HPU_ASSIGN_OR_RETURN(const xla::Shape array_shape, builder->GetShape(array));
      if (!array_shape.is_dynamic_dimension(0)) continue;
      count = xla::Min(count, xla::GetDimensionSize(array, 0));
      is_static = false;
    }
    const auto body = [&](XlaOp i, absl::Span<const XlaOp> values, xla::XlaBuilder*) {
      return UpdateAt(i, Rows(values.begin(), values.end()), shape);
    };
    if (is_static) return xla::ForEachIndex(bound, xla::S32, body, state, type_string(), builder);
    // Loop state: number of the index, number of indices, `state`.
    Rows counted = {xla::ConstantR0<int32_t>(builder, 0), count};
    counted.insert(counted.end(), state.begin(), state.end());
    const auto has_next = [](absl::Span<const XlaOp> values, xla::XlaBuilder*) -> absl::StatusOr<XlaOp> {
      return xla::Lt(values[0], values[1]);
    };
    const auto next = [&](absl::Span<const XlaOp> values, xla::XlaBuilder* inner) -> absl::StatusOr<Rows> {
      HPU_ASSIGN_OR_RETURN(Rows updated, body(values[0], values.subspan(2), inner));
      updated.insert(updated.begin(), {values[0] + xla::ScalarLike(values[0], 1), values[1]});
      return updated;
    };
    HPU_ASSIGN_OR_RETURN(Rows updated, xla::WhileLoopHelper(has_next, next, counted, type_string(), builder));
    updated.erase(updated.begin(), updated.begin() + 2);
    return updated;
  }

  // Updates the rows for index number i. `state`: variables, gradients, indices, numbers.
  absl::StatusOr<Rows> UpdateAt(XlaOp i, Rows state, const tensorflow::TensorShape& shape) const {
    const int variables = rule_.variables;
    const auto row = [&](XlaOp array, XlaOp index) {
      absl::InlinedVector<int64_t, 4> sizes = shape.dim_sizes();
      sizes[0] = 1;
      return xla::DynamicSlice(array, Begins(index, shape), sizes);
    };
    const XlaOp index = xla::Reshape(xla::DynamicSlice(state[variables + 1], {i}, {1}), {});
    Rows rows;
    for (int v = 0; v < variables; ++v) rows.push_back(row(state[v], index));
    rows.push_back(row(state[variables], i));
    rows.insert(rows.end(), state.begin() + variables + 2, state.end());
    const XlaOp in_range =
        xla::And(xla::Ge(index, xla::ScalarLike(index, 0)), xla::Lt(index, xla::ScalarLike(index, shape.dim_size(0))));
    HPU_ASSIGN_OR_RETURN(rows, UpdatedIf(in_range, rows));
    for (int v = 0; v < variables; ++v) {
      state[v] = xla::DynamicUpdateSlice(state[v], rows[v], Begins(index, shape));
    }
    return state;
  }

  // Updates the rows if `condition` is true. `rows`: rows of the variables and the gradients, numbers. XLA does not
  // fuse across a loop, so all rows are read before a row is written. Otherwise XLA would copy variables.
  absl::StatusOr<Rows> UpdatedIf(XlaOp condition, Rows rows) const {
    const auto body = [this](absl::Span<const XlaOp> state, xla::XlaBuilder* builder) -> absl::StatusOr<Rows> {
      const int variables = rule_.variables;
      RowUpdate update{{}, state[variables + 1], Rows(state.begin() + variables + 2, state.end()), flag_};
      update.rows.assign(state.begin() + 1, state.begin() + 1 + variables);
      rule_.update(&update);
      Rows next(state.begin(), state.end());
      next[0] = xla::ConstantR0<bool>(builder, false);
      absl::c_copy(update.rows, next.begin() + 1);
      return next;
    };
    // The last operation of the builder is the result.
    const auto once = [](absl::Span<const XlaOp> state, xla::XlaBuilder* builder) -> absl::StatusOr<XlaOp> {
      return xla::And(state[0], xla::ConstantR0<bool>(builder, true));
    };
    rows.insert(rows.begin(), condition);
    HPU_ASSIGN_OR_RETURN(rows, xla::WhileLoopHelper(once, body, rows, "row", condition.builder()));
    rows.erase(rows.begin());
    return rows;
  }

  static Rows Begins(XlaOp row, const tensorflow::TensorShape& shape) {
    Rows begins(shape.dims(), xla::ScalarLike(row, 0));
    begins[0] = row;
    return begins;
  }

  const SparseRule& rule_;
  tensorflow::DataType type_;
  bool flag_ = false;
};

[[maybe_unused]] const bool sparse_updates_registered = [] {
  for (const SparseRule& rule : SparseRules()) {
    tensorflow::XlaOpRegistrationBuilder builder = tensorflow::XlaOpRegistrationBuilder::Name(rule.op);
    builder.Device(kCompilationDevice)
        .TypeConstraint("T",
                        {tensorflow::DT_HALF, tensorflow::DT_BFLOAT16, tensorflow::DT_FLOAT, tensorflow::DT_DOUBLE});
    tensorflow::XlaOpRegistrar registrar(
        builder.Build([](tensorflow::OpKernelConstruction* construction) -> tensorflow::OpKernel* {
          return new SparseUpdateLowering(construction);
        }));
  }
  return true;
}();

}  // namespace
}  // namespace hpu
