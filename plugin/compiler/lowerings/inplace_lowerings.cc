// Lowerings of InplaceUpdate, InplaceAdd and InplaceSub, which tf.nn.ctc_loss uses in loops. The ops replace rows of an
// array, or add to or subtract from rows. HLO values are immutable, but XLA reuses the array's memory.
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using xla::XlaOp;

enum class Change { kUpdate, kAdd, kSub };

template <Change kChange>
class InplaceLowering : public tensorflow::XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;

  void Compile(tensorflow::XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(0), indices = context->InputXlaShape(1);
    const absl::StatusOr<xla::Shape> rows = context->InputXlaShape(2);
    OP_REQUIRES_OK(context, shape.status());
    OP_REQUIRES_OK(context, indices.status());
    OP_REQUIRES_OK(context, rows.status());
    OP_REQUIRES(
        context,
        shape->dimensions_size() > 0 && indices->dimensions_size() == 1 &&
            rows->dimensions_size() == shape->dimensions_size() && rows->dimensions(0) == indices->dimensions(0) &&
            rows->dimensions().subspan(1) == shape->dimensions().subspan(1),
        absl::InvalidArgumentError(absl::StrCat(
            type_string(), ": i must be a vector, and v must have the shape of x with one row for each index; got x ",
            shape->ToString(), ", i ", indices->ToString(), ", v ", rows->ToString())));
    if (xla::ShapeUtil::IsZeroElementArray(*rows)) return context->SetOutput(0, context->Input(0));
    OP_REQUIRES(
        context, shape->dimensions(0) > 0,
        absl::InvalidArgumentError(absl::StrCat(type_string(), ": x has no rows to update: ", shape->ToString())));
    context->SetOutput(0, indices->dimensions(0) == 1 ? WithOneRow(context, *shape) : WithRows(context, *shape));
  }

 private:
  // As in TensorFlow's kernels, indices beyond the array wrap around.
  static XlaOp RowIndices(tensorflow::XlaOpKernelContext* context, const xla::Shape& shape) {
    const XlaOp indices = context->Input(1);
    const XlaOp size = xla::ScalarLike(indices, shape.dimensions(0));
    return xla::Rem(xla::Rem(indices, size) + size, size);
  }

  static XlaOp WithOneRow(tensorflow::XlaOpKernelContext* context, const xla::Shape& shape) {
    const XlaOp index = xla::Reshape(RowIndices(context, shape), {});
    std::vector<XlaOp> begins(shape.dimensions_size(), xla::ScalarLike(index, 0));
    begins[0] = index;
    std::vector<int64_t> sizes(shape.dimensions().begin(), shape.dimensions().end());
    sizes[0] = 1;
    const XlaOp array = context->Input(0);
    XlaOp row = context->Input(2);
    if (kChange == Change::kAdd) row = xla::DynamicSlice(array, begins, sizes) + row;
    if (kChange == Change::kSub) row = xla::DynamicSlice(array, begins, sizes) - row;
    return xla::DynamicUpdateSlice(array, row, begins);
  }

  static XlaOp WithRows(tensorflow::XlaOpKernelContext* context, const xla::Shape& shape) {
    xla::XlaBuilder changes("change");
    const xla::Shape number = xla::ShapeUtil::MakeShape(shape.element_type(), {});
    const XlaOp old = xla::Parameter(&changes, 0, number, "old"), change = xla::Parameter(&changes, 1, number, "row");
    if (kChange == Change::kAdd) xla::Add(old, change);
    if (kChange == Change::kSub) xla::Sub(old, change);
    const absl::StatusOr<xla::XlaComputation> computation = changes.Build();
    if (!computation.ok()) return context->builder()->ReportError(computation.status());
    xla::ScatterDimensionNumbers numbers;
    for (int64_t i = 1; i < shape.dimensions_size(); ++i) numbers.add_update_window_dims(i);
    numbers.add_inserted_window_dims(0);
    numbers.add_scatter_dims_to_operand_dims(0);
    numbers.set_index_vector_dim(1);
    return xla::Scatter(context->Input(0), RowIndices(context, shape), context->Input(2), *computation, numbers);
  }
};

REGISTER_XLA_OP(Name("InplaceUpdate").Device(kCompilationDevice), InplaceLowering<Change::kUpdate>)
REGISTER_XLA_OP(Name("InplaceAdd").Device(kCompilationDevice), InplaceLowering<Change::kAdd>)
REGISTER_XLA_OP(Name("InplaceSub").Device(kCompilationDevice), InplaceLowering<Change::kSub>)

}  // namespace
}  // namespace hpu
