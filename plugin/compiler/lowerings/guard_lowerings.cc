// Lowerings of HabanaIndicesInRange and HabanaRevertUpdate, which keep a variable's value if a check will fail.
#include <cstdint>
#include <optional>
#include <string>

#include "plugin/compat/lowering_values.h"
#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/comparators.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu {
namespace {

using tensorflow::XlaOpKernelContext;
using xla::XlaOp;

XlaOp All(XlaOp predicates) { return xla::Not(xla::Any(xla::Not(predicates))); }

// The rules of check_indices_kernel.cc.
class IndicesInRangeLowering : public tensorflow::XlaOpKernel {
 public:
  explicit IndicesInRangeLowering(tensorflow::OpKernelConstruction* construction) : XlaOpKernel(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("kind", &kind_));
    OP_REQUIRES_OK(construction, construction->GetAttr("axis", &axis_));
  }

  void Compile(XlaOpKernelContext* context) override {
    const absl::StatusOr<tensorflow::TensorShape> indices = OperandShape(context, 0), sizes = OperandShape(context, 1);
    OP_REQUIRES_OK(context, indices.status());
    OP_REQUIRES_OK(context, sizes.status());
    const int64_t rank = sizes->num_elements();
    const int64_t axis = axis_ < 0 ? axis_ + rank : axis_;
    const bool checked = indices->num_elements() > 0 && (kind_ == "vector" || (axis >= 0 && axis < rank));
    if (!checked) {
      context->SetOutput(0, xla::ConstantR0<bool>(context->builder(), true));
    } else if (kind_ == "vector") {
      context->SetOutput(0, VectorsInRange(context, *indices, rank));
    } else if (kind_ == "permutation") {
      context->SetOutput(0, IsPermutation(context, *indices));
    } else {
      context->SetOutput(0, EachInRange(context, axis, rank));
    }
  }

 private:
  // The bound of an unsorted segment operation is a scalar, other sizes are vectors.
  static XlaOp SizesVector(XlaOpKernelContext* context, int64_t rank) {
    return xla::Reshape(context->Input(1), {rank});
  }

  // `rank`: the number of sizes.
  XlaOp VectorsInRange(XlaOpKernelContext* context, const tensorflow::TensorShape& shape, int64_t rank) const {
    const int64_t length = shape.dims() == 0 ? 0 : shape.dim_size(shape.dims() - 1);
    if (length == 0 || length > rank) return xla::ConstantR0<bool>(context->builder(), true);
    const XlaOp indices = context->Input(0);
    const XlaOp sizes = xla::ConvertElementType(SizesVector(context, rank), context->input_xla_type(0));
    const XlaOp limits = xla::BroadcastInDim(xla::SliceInDim(sizes, 0, length, 1, 0), shape.dim_sizes(),
                                             {static_cast<int64_t>(shape.dims()) - 1});
    return All(xla::And(xla::Ge(indices, xla::ZerosLike(indices)), xla::Lt(indices, limits)));
  }

  // Whether a vector holds each number from 0 once.
  XlaOp IsPermutation(XlaOpKernelContext* context, const tensorflow::TensorShape& shape) const {
    if (shape.dims() != 1) return xla::ConstantR0<bool>(context->builder(), true);
    const xla::PrimitiveType type = context->input_xla_type(0);
    const XlaOp sorted =
        xla::Sort({context->Input(0)}, xla::CreateScalarLtComputation({type}, context->builder()), 0, false);
    return All(xla::Eq(sorted, xla::Iota(context->builder(), type, shape.dim_size(0))));
  }

  XlaOp EachInRange(XlaOpKernelContext* context, int64_t axis, int64_t rank) const {
    const XlaOp indices = context->Input(0), sizes = SizesVector(context, rank);
    const auto size = [&](int64_t i) { return xla::Reshape(xla::SliceInDim(sizes, i, i + 1, 1, 0), {}); };
    const XlaOp limit = xla::ConvertElementType(size(axis), context->input_xla_type(0));
    XlaOp valid = kind_ == "length" ? xla::Le(indices, limit) : xla::Lt(indices, limit);
    const XlaOp lowest = kind_ == "element" ? xla::Neg(limit) : xla::ZerosLike(limit);
    if (kind_ != "segment") valid = xla::And(valid, xla::Ge(indices, lowest));
    XlaOp passes = All(valid);
    if (kind_ != "slice" && kind_ != "segment") return passes;
    for (int64_t i = 0; i < rank; ++i) {  // slices and rows without elements need no valid index
      if (i != axis) passes = xla::Or(passes, xla::Eq(size(i), xla::Zero(context->builder(), xla::S32)));
    }
    return passes;
  }

  std::string kind_;
  int64_t axis_ = 0;
};

class NoLowering : public tensorflow::XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;

  void Compile(XlaOpKernelContext*) override {}
};

class RevertUpdateLowering : public tensorflow::XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;

  void Compile(XlaOpKernelContext* context) override {
    const absl::StatusOr<std::optional<VariableValues>> variable = ValuesOfVariable(context, 0);
    OP_REQUIRES_OK(context, variable.status());
    if (!variable->has_value()) return;
    const XlaOp updated = (*variable)->value;
    const XlaOp old = context->num_inputs() > 2 ? context->Input(2) : (*variable)->initial;
    if (!old.valid() || old.IsIdenticalTo(updated)) return;
    const absl::StatusOr<xla::Shape> old_shape = context->builder()->GetShape(old);
    const absl::StatusOr<xla::Shape> shape = context->builder()->GetShape(updated);
    OP_REQUIRES_OK(context, old_shape.status());
    OP_REQUIRES_OK(context, shape.status());
    if (!shape->IsArray() || shape->is_dynamic() || !xla::Shape::Equal().IgnoreLayout()(*shape, *old_shape)) return;
    const XlaOp passes = xla::Broadcast(context->Input(1), shape->dimensions());
    OP_REQUIRES_OK(context, context->AssignVariable(0, (*variable)->type, xla::Select(passes, updated, old)));
  }
};

REGISTER_XLA_OP(Name("HabanaIndicesInRange").Device(kCompilationDevice), IndicesInRangeLowering)
REGISTER_XLA_OP(Name("HabanaAssert").Device(kCompilationDevice), NoLowering)
REGISTER_XLA_OP(Name("HabanaInnerIndices").Device(kCompilationDevice), NoLowering)
REGISTER_XLA_OP(Name("HabanaInnerValues").Device(kCompilationDevice), NoLowering)
REGISTER_XLA_OP(Name("HabanaRevertUpdate").Device(kCompilationDevice), RevertUpdateLowering)

}  // namespace
}  // namespace hpu
